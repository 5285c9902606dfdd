"""The audit hook: it counts the operations that raise an event, or refuses them in a sealed replay.

Python's audit hooks cannot be removed. So there is one for this process, put in place when its first
session begins; between sessions it does nothing. It looks at the few events that ``channels.py`` names and
passes over all others, the frame reads of the layer's own sources among them.

Not covered: C code that makes system calls by itself.

Invariant: an operation of the session's own (a governed source that asks the world, the record) is
never counted and never refused.
"""

from __future__ import annotations

import sys
from _socket import socket as _PlainSocket  # noqa: N812  (a class, under the name that says so)
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from sys import _getframe
from types import FrameType, MappingProxyType
from typing import Any

from twice.errors import ProgramNotFound, SealBroken
from twice.recorder.audit import channels
from twice.recorder.audit.channels import BackChannel, Wording, find_owner, user_line
from twice.recorder.audit.inventory import (
    SIGNAL,
    WITHIN_RUN,
    Coverage,
    Inventory,
    find_numpy_clock_reads,
)
from twice.recorder.audit.native_sockets import NativeSockets, find_clients, find_mapped_clients
from twice.recorder.effects.actors import OUTSIDE, current, while_imported
from twice.recorder.effects.network.within_run import is_within_run, may_listen
from twice.recorder.effects.ops import PROCESS_START, PROCESS_SYSTEM, Op
from twice.recorder.kernel import confinement
from twice.recorder.program import Program
from twice.recorder.user_code import list_user_modules

Refuse = Callable[[SealBroken], bool]
"""Told of a refusal, which the program may catch; whether it stands."""


class Watch:
    """What one session lets out. Each method raises ``SealBroken`` in a sealed replay (E-SEAL-001).

    Operations are only counted where there is none to be told of a refusal. ``owned`` are the descriptors that governed
    sources hold, ``covered`` the sources of ``inventory.covered_sources``.
    """

    def __init__(
        self,
        inventory: Inventory,
        program: Program,
        refuse: Refuse | None = None,
        owned: Collection[int] = (),
        covered: Mapping[str, Coverage] = MappingProxyType({}),
    ) -> None:
        self.inventory = inventory
        self._covered = covered
        self._program = program
        self._folders = program.locate()
        self._refuse = refuse
        self._sockets = NativeSockets(owned)

    def check(
        self, channel: BackChannel, wording: Wording, args: tuple[Any, ...], frame: FrameType
    ) -> None:
        """Count or refuse an operation that is about to be made."""
        if current() is OUTSIDE:
            return
        words = wording(args)
        if words is None:
            return
        owner, where = find_owner(frame)
        if owner == "session" or (channel.users_only and owner != "user"):
            return
        if channel.source == SIGNAL and SIGNAL in self._covered and args[0] > 0:
            is_own = confinement.current().is_own_process(args[0])
            (self._count if is_own else self._count_unsupported)(channel, words, where)
            return
        if args and isinstance(sock := args[0], _PlainSocket):
            self._sockets.named.add(sock.fileno())
            is_within = (channel.source == channels.LISTEN and may_listen(sock, args[1])) or (
                channel.source in (channels.CONNECT, channels.SEND) and is_within_run(sock, args[1])
            )
            if is_within:
                self.inventory.count(channel.source, "repeated", self._shorten(where), WITHIN_RUN)
                return
        self._count(channel, words, where)

    def count_ungoverned(self, op: Op) -> None:
        """Count a read without an actor, or count or refuse a process that a library starts."""
        where = user_line()
        if op not in (PROCESS_START, PROCESS_SYSTEM):
            why = f"{op.name} was read on a thread that no Python code of the run started"
            remedy = "read it on a thread that the program starts, and hand the value over"
            self.inventory.count_unsupported("threads.unowned", self._shorten(where), why, remedy)
        elif while_imported(_getframe(1)):
            why = "a package starts a process while it is imported; a replay starts it again"
            self.inventory.count("process.importing", "assumed", self._shorten(where), why)
        else:
            self._count(channels.STARTED, op.name, where)

    def name_pipe(self) -> None:
        """Count or refuse that the program takes the descriptor of a pipe to a process."""
        self._count(channels.PIPE, "the descriptor of a pipe to a process", user_line())

    def look(self) -> None:
        """Count or refuse sockets that appeared without anybody of the session's having made them."""
        for words in self._sockets.find_new():
            talks = ", ".join([*find_clients(), *find_mapped_clients()])
            who = f" (these libraries talk by themselves: {talks})" if talks else ""
            self._count(channels.NATIVE_SOCKET, f"{words}{who}", user_line())

    def adopt(self) -> None:
        """Assign the descriptors that appeared just now to a declared effect."""
        self._sockets.adopt()

    def finish(self, *, declared: bool) -> None:
        """Name the client libraries that the run loaded, and the clocks that its source reads, at its end.

        Where the run called declared effects and no socket of nobody's appeared, a library is taken to have
        talked inside of them.
        """
        inside = declared and not self.inventory.has("network.descriptor")
        for name, library in find_clients().items():
            if inside:
                why = f"{library} talks by itself; taken to have done so in declared effects alone"
                self.inventory.count(f"library.{name}", "assumed", "", why)
                continue
            why = f"{library} talks to the network by itself, and nothing that it does is recorded"
            remedy = "put its calls into functions and declare them: @twice.effect"
            self.inventory.count_unsupported(f"library.{name}", "", why, remedy)
        sources = list_user_modules()
        if self._program.is_file:
            with suppress(ProgramNotFound):  # It may be gone by now.
                sources.append(self._program.path().resolve())
        for place in find_numpy_clock_reads(dict.fromkeys(sources)):
            why = "numpy reads the clock in C, which nothing can record"
            remedy = "give it the time: numpy.datetime64(time.time_ns(), 'ns')"
            self.inventory.count_unsupported("clock.numpy", self._shorten(place), why, remedy)
        for name in find_mapped_clients():
            why = "loaded by another library; it would talk to the network by itself"
            self.inventory.count(f"library.{name}", "assumed", "", why)
        self._sockets.close()

    def _count(self, channel: BackChannel, words: str, where: str) -> None:
        covered = self._covered.get(channel.source)
        if covered is None:
            self._count_unsupported(channel, words, where)
        else:
            self.inventory.count(channel.source, covered.kind, self._shorten(where), covered.why)

    def _count_unsupported(self, channel: BackChannel, words: str, where: str) -> None:
        place = self._shorten(where)
        row = self.inventory.count_unsupported(channel.source, place, channel.why, channel.remedy)
        if self._refuse is None or row.allowed:
            return
        error = SealBroken(
            f"{words} was refused{f' at {place}' if place else ''}: a replay reaches nothing but its"
            " record.",
            f"Expected what the record can answer; {channel.why}.",
            f"Either {channel.remedy}, or record with --allow {channel.source}.",
            source=channel.source,
            operation=words,
            place=place,
        )
        if self._refuse(error):
            raise error

    def _shorten(self, where: str) -> str:
        """Name a place from the program's file or root, if it is inside."""
        for folder in self._folders:
            with suppress(ValueError):
                return str(Path(where).relative_to(folder))
        return where


_watch: Watch | None = None
# One hook for a process, as Python has it.
_place_hook = cache(lambda: sys.addaudithook(_hook))


def begin(watch: Watch) -> None:
    """Let a session see this process's operations from here on."""
    global _watch  # noqa: PLW0603
    _watch = watch
    _place_hook()


def end() -> None:
    """See nothing any more."""
    global _watch  # noqa: PLW0603
    _watch = None


def is_watched() -> bool:
    """Return whether a session sees this process's operations now."""
    return _watch is not None


def finish(*, declared: bool) -> None:
    """Finish the inventory at the run's end; ``declared`` is as in ``Watch.finish``."""
    if _watch is not None:
        _watch.finish(declared=declared)


def _hook(event: str, args: tuple[Any, ...]) -> None:
    watch = _watch
    if watch is None or event not in _SEEN:
        return
    frame = _getframe(1)
    if event == "open":
        channel = channels.find_open_channel(args[0], args[2], frame)
        if channel is not None:
            watch.check(channel, channels.describe_open, args, frame)
        return
    if event == "socket.connect":
        confinement.current().expect_connect()
    elif event in channels.CHANGED_BESIDE and not channels.is_users(frame):
        return
    watch.check(*channels.BACK_CHANNELS[event], args, frame)


_SEEN = frozenset({"open", *channels.BACK_CHANNELS})
