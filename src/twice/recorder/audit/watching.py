"""Sees the operations that raise an audit event; counts them, or refuses them in a sealed replay.

Python's audit hooks cannot be removed. So there is one for this process, put in place when its first
session begins; between sessions it does nothing. It looks at the few events that
``backchannels.py`` names and passes over all others, the frame reads of the layer's own sources among them.

What it misses: C code that makes system calls by itself.

Invariant: an operation of the session's own (a governed source that asks the world, the record) is
never counted and never refused.
"""

from __future__ import annotations

import sys
from _socket import socket as _PlainSocket  # noqa: N812  (a class, under the name that says so)
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from pathlib import Path
from sys import _getframe
from types import FrameType, MappingProxyType
from typing import Any

from twice.errors import ProgramNotFound, SealBroken
from twice.recorder.audit.backchannels import (
    BACK_CHANNELS,
    CHANGED_BESIDE,
    CONNECT,
    LISTEN,
    OPENED_BESIDE,
    BackChannel,
    Words,
    is_input,
    opened,
    said_to_open,
)
from twice.recorder.audit.clientlibraries import loaded_clients, mapped_clients
from twice.recorder.audit.coverage import KINDS, SIGNAL, WITHIN_RUN, is_own_process
from twice.recorder.audit.descriptors import Descriptors
from twice.recorder.audit.inventory import Inventory
from twice.recorder.audit.places import is_users, user_line, whose
from twice.recorder.audit.unheard import numpy_clocks
from twice.recorder.effects.actors import OUTSIDE, current
from twice.recorder.effects.askers import while_imported
from twice.recorder.effects.ops import PROCESS_START, PROCESS_SYSTEM, Op
from twice.recorder.kernel import confinement
from twice.recorder.program import Program
from twice.recorder.user_code import list_user_modules

_OF_A_FILE = frozenset({"function", "script"})
Refuse = Callable[[SealBroken], bool]
"""Told of a refusal, which the program may catch; whether it stands."""


class Watch:
    """What one session lets out.

    Args:
        inventory: where operations are counted.
        program: what is executed; places beside it are named from there.
        refuse: told of a refusal before it is raised; None where operations are only counted.
        owned: descriptors that governed sources hold.
        covered: sources that need not be refused, and why: ``coverage.covered_sources``.
    """

    def __init__(
        self,
        inventory: Inventory,
        program: Program,
        refuse: Refuse | None = None,
        owned: Collection[int] = (),
        covered: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self._covered = covered
        self.inventory = inventory
        self._program = program
        root = program.folder().resolve()
        beside = (root / program.target).resolve().parent if program.kind in _OF_A_FILE else root
        self._folders = (beside, root)
        self._refuse = refuse
        self._descriptors = Descriptors(owned)

    def place(self, where: str) -> str:
        """Shorten a place for display: relative to the program's file or root, if it is inside."""
        for folder in self._folders:
            with suppress(ValueError):
                return str(Path(where).relative_to(folder))
        return where

    def met(
        self, channel: BackChannel, say: Words, args: tuple[Any, ...], frame: FrameType
    ) -> None:
        """Count or refuse an operation that is about to be made.

        Raises:
            SealBroken: E-SEAL-001, in a sealed replay.
        """
        if current() is OUTSIDE:
            return
        words = say(args)
        if words is None:
            return
        who, where = whose(frame)
        if who == "session" or (channel.users_only and who != "user"):
            return
        is_signal = channel.source == SIGNAL and args[0] > 0
        if is_signal and SIGNAL in self._covered and not is_own_process(args[0]):
            self._refuse_or_count(channel, words, where)
            return
        if args and isinstance(args[0], _PlainSocket):
            self._descriptors.named.add(args[0].fileno())
        if channel.source in {LISTEN, CONNECT} and self._is_within_run(channel.source, args):
            self.inventory.count(channel.source, "repeated", self.place(where), WITHIN_RUN)
            return
        self.tell(channel, words, where)

    @staticmethod
    def _is_within_run(source: str, args: tuple[Any, ...]) -> bool:
        """Return whether a socket listens, or connects, where only processes of the run are."""
        from twice.recorder.effects.network.within_run import is_within_run, may_listen

        sock, address = args[0], args[1]
        return (
            may_listen(sock, address) if source == LISTEN else is_within_run(sock.family, address)
        )

    def ungoverned(self, op: Op) -> None:
        """Count a read without an actor, or refuse or count a process that a library starts.

        Raises:
            SealBroken: E-SEAL-001, in a sealed replay, for a process that would start.
        """
        where = user_line()
        if op in (PROCESS_START, PROCESS_SYSTEM):
            if while_imported(_getframe(1)):
                self.inventory.assumed("process.importing", self.place(where), _WHILE_IMPORTED)
            else:
                self.tell(_STARTED, op.name, where)
            return
        self.inventory.unsupported(
            "threads.unowned",
            self.place(where),
            f"{op.name} was read on a thread that no Python code of the run started",
            "read it on a thread that the program starts, and hand the value over",
        )

    def name_pipe(self) -> None:
        """Count or refuse that the program takes the descriptor of a pipe to a process.

        Raises:
            SealBroken: E-SEAL-001, in a sealed replay.
        """
        self.tell(_PIPE, "the descriptor of a pipe to a process", user_line())

    def look(self) -> None:
        """Name sockets that appeared without anybody of the session's having made them.

        Raises:
            SealBroken: E-SEAL-001, in a sealed replay.
        """
        for found in self._descriptors.look():
            talks = ", ".join([*loaded_clients(), *mapped_clients()])
            who = f" (these libraries talk by themselves: {talks})" if talks else ""
            self.tell(_SOCKET, f"{found.words}{who}", user_line())

    def adopt(self) -> None:
        """Assign the descriptors that appeared just now to a declared effect."""
        self._descriptors.adopt()

    def finish(self, *, declared: bool) -> None:
        """Name the client libraries that the run loaded, at its end.

        Args:
            declared: whether the run called declared effects.
        """
        inside = declared and not self.inventory.has("network.descriptor")
        for name, library in loaded_clients().items():
            if inside:
                why = f"{library} talks by itself; taken to have done so in declared effects alone"
                self.inventory.assumed(f"library.{name}", "", why)
                continue
            why = f"{library} talks to the network by itself, and nothing that it does is recorded"
            remedy = "put its calls into functions and declare them: @twice.effect"
            self.inventory.unsupported(f"library.{name}", "", why, remedy)
        for place in numpy_clocks(_sources(self._program)):
            why = "numpy reads the clock in C, which nothing can record"
            remedy = "give it the time: numpy.datetime64(time.time_ns(), 'ns')"
            self.inventory.unsupported("clock.numpy", self.place(place), why, remedy)
        for name in mapped_clients():
            why = "loaded by another library; it would talk to the network by itself"
            self.inventory.assumed(f"library.{name}", "", why)
        self._descriptors.close()

    def tell(self, channel: BackChannel, words: str, where: str) -> None:
        """Count an operation, and refuse it where this session is sealed.

        Raises:
            SealBroken: E-SEAL-001, in a sealed replay.
        """
        why = self._covered.get(channel.source)
        if why is None:
            self._refuse_or_count(channel, words, where)
            return
        self.inventory.count(channel.source, KINDS.get(why, "recorded"), self.place(where), why)

    def _refuse_or_count(self, channel: BackChannel, words: str, where: str) -> None:
        place = self.place(where)
        row = self.inventory.unsupported(channel.source, place, channel.why, channel.remedy)
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


def _sources(program: Program) -> list[Path]:
    """Return the user's files that this process has loaded, with the program's own."""
    found = list_user_modules()
    if program.kind in _OF_A_FILE:
        with suppress(ProgramNotFound):  # It may be gone by now.
            found.append(program.path().resolve())
    return list(dict.fromkeys(found))


_SOCKET = BackChannel(
    "network.descriptor",
    "a socket appeared that no Python code made",
    "put the call that makes it into a function and declare it: @twice.effect",
)
_PIPE = BackChannel(
    "process.descriptor",
    "what goes through the descriptor of a process's pipe is not recorded, and a replay has no such pipe",
    "read the pipe itself, or use communicate()",
)
_STARTED = BackChannel(
    "process.start",
    "a process that a library starts is not recorded",
    "put the call into a function and declare it: @twice.effect",
)

_WHILE_IMPORTED = "a package starts a process while it is imported; a replay starts it again"

_watch: Watch | None = None
_placed = False


def begin(watch: Watch) -> None:
    """Let a session see this process's operations from here on."""
    global _watch, _placed  # noqa: PLW0603  (one hook for a process, as Python has it)
    _watch = watch
    if not _placed:
        _placed = True
        sys.addaudithook(_hook)


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
    if _watch is None or event not in _SEEN:
        return
    watch = _watch
    if event == "open":
        path, _, flags = args
        frame = _getframe(1)
        found = None if flags & 3 else opened(path)
        if found is None and is_users(frame) and is_input(path):
            found = OPENED_BESIDE
        if found is not None:
            watch.met(found, said_to_open, args, frame)
        return
    frame = _getframe(1)
    if event == "socket.connect":
        confinement.current().expect_connect()
    if event in CHANGED_BESIDE and not is_users(frame):
        return
    channel, say = BACK_CHANNELS[event]
    watch.met(channel, say, args, frame)


_SEEN = frozenset({"open", *BACK_CHANNELS})
