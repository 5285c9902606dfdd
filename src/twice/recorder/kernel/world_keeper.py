"""The process around a replay: it makes the world, runs the program in it, and says what was left behind.

Namespaces are entered by the process that the parent started; the program runs below process 1 of a
numbering of its own, under the process id of the recording where the kernel gives it. When the program has
ended, so has everything that it started, and the files it leaves are compared from outside.

Invariant: either every path that the program can reach is a copy, or the program runs under a lower tier
that says so.
"""

from __future__ import annotations

import os
import select
import signal
import socket
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Protocol

from twice.errors import FilesUnprotected
from twice.foundation.dataclass import dataclass
from twice.recorder.effects.filenames import kept
from twice.recorder.kernel import confinement
from twice.recorder.kernel.confinement import Confinement
from twice.recorder.kernel.file_history import FileHistory
from twice.recorder.kernel.keeper import Keeper, end_like, pass_signals_on
from twice.recorder.kernel.libc import MS_BIND, MS_REMOUNT, end_with_parent, mount
from twice.recorder.kernel.mount_table import is_below, read_mount_table, visible_mounts
from twice.recorder.kernel.namespaces import (
    NamespaceRefused,
    Namespaces,
    bring_loopback_up,
    enter_namespaces,
    give_up_rights,
)
from twice.recorder.kernel.placements import ChangedInput
from twice.recorder.kernel.process_number import ProgramEnd, be_program, start_as
from twice.recorder.kernel.refusal_keeper import run_refusing
from twice.recorder.kernel.replay_differences import copy_differing
from twice.recorder.kernel.stalls import LOOK_MS, StallGuard
from twice.recorder.kernel.system_call_filter import refuse_unseen_calls
from twice.recorder.kernel.thread_marks import ThreadMarks
from twice.recorder.kernel.tiers import NETWORK, NUMBER, REFUSAL, VARIABLE, tiers_left_out
from twice.recorder.kernel.tiers import WORLD as WORLD_TIER
from twice.recorder.kernel.world import World
from twice.worker.channel import KEPT, Channel

_HIDDEN_MAX = 1000
_COPIED_MAX = 3
COPIED_BYTES_MAX = 64 << 20
"""Size up to which a file that a replay left otherwise is copied, to be compared with the recorded one."""
_LINGER_S = 2.0
"""How long children may run on when the program has ended, in seconds: they clear up after themselves."""
_FOLDER = os.O_DIRECTORY | os.O_CLOEXEC | getattr(os, "O_PATH", 0)


@dataclass(frozen=True)
class WorldRequest:
    """What a keeper is told of one replay.

    Attributes:
        histories: files of the recorded run, at the paths that they have here.
        content: returns a file with a content that the record carries, by digest; None without one.
        folder: private to this execution.
        is_ignored: returns whether a path is no part of the run.
        process: the recorded process id; None where none is known.
        has_network: whether the program may reach the network.
        compares: whether the files that the program leaves are held against the record.
        keep: descriptor of a real folder into which they are copied; None for nowhere.
        differing: descriptor of a real folder into which the first that differ are copied; None for nowhere.
        is_recorded: whether the program is recorded in its world, and so supervised.
        shared: real folders in which the product writes its own files.
        native_writes: files that other code than Python changed in the recorded run, as far as anybody
            asks: one is enough.
    """

    histories: Sequence[FileHistory]
    content: Callable[[str], str | None]
    folder: str
    is_ignored: Callable[[str], bool]
    process: int | None
    has_network: bool
    compares: bool
    keep: int | None = None
    differing: int | None = None
    is_recorded: bool = False
    shared: Sequence[str] = ()
    native_writes: Sequence[str] = ()


def run_in_world(request: WorldRequest, channel: Channel, program: Callable[[], object]) -> None:
    """Run a program in a world and end this process as it ended; return where no world is to be had.

    Args:
        request: what the world is made of.
        channel: to the parent; the last message on it is what was left behind.
        program: what runs; it does not return.

    Returns:
        None, with nothing done, where writes cannot be refused either; ``confinement.current()`` says why.
    """
    left_out = tiers_left_out(os.environ)
    if WORLD_TIER in left_out:
        _run_without_world(request, f"left out by {VARIABLE}", channel, program)
        return
    world = World(request.histories, request.content, request.folder, is_ignored=request.is_ignored)
    changed = world.prepare()
    cuts_network = not request.has_network and NETWORK not in left_out
    try:
        entered = _enter(cuts_network=cuts_network, numbers=NUMBER not in left_out)
    except NamespaceRefused as refused:
        if refused.is_entered:
            raise
        _run_without_world(request, f"no namespace: {refused.reason}", channel, program)
        return
    shared = [_SharedFolder(path) for path in request.shared]
    report = world.enter(entered)
    if entered.has_network:
        with suppress(OSError):
            bring_loopback_up()
    for each in shared:
        each.mount()

    marks = ThreadMarks()

    def in_world(keeper: socket.socket | None) -> None:
        world.close_descriptors()
        for folder in (request.keep, request.differing):
            if folder is not None:
                os.close(folder)
        give_up_rights(entered)
        with suppress(OSError):
            refuse_unseen_calls()
        confinement.enter(
            Confinement("world", is_cut_off=entered.has_network, keeper=keeper, marks=marks)
        )
        program()

    end, stalled = _run(request, channel, in_world, marks, numbers=entered.has_process_numbers)
    channel.send(
        {
            "kind": KEPT,
            "tier": "world",
            "exit_code": end.exit_code,
            "number": {"given": end.number, "wanted": request.process, "problem": end.problem},
            "is_cut_off": entered.has_network,
            "stalled": kept(stalled),
            "uncovered": list(map(kept, report.uncovered)),
            **_describe_files(world, request, changed),
        }
    )
    channel.close()
    with suppress(OSError):
        world.discard()
    end_like(-end.exit_code if end.exit_code < 0 else end.exit_code << 8)


def _describe_files(
    world: World, request: WorldRequest, changed: Sequence[ChangedInput]
) -> dict[str, object]:
    """Compare the files that the program left, copy the requested ones out, and return the report."""
    differences = world.compare() if request.compares else []
    copied = {}
    if request.differing is not None:
        folder = f"/proc/self/fd/{request.differing}"
        copied = copy_differing(differences, folder, _COPIED_MAX, COPIED_BYTES_MAX)
    removed = [] if request.keep is None else world.copy_out(request.keep)
    return {
        "changed_inputs": [
            (kept(one.path), one.recorded.to_plain(), one.now.to_plain()) for one in changed
        ],
        "differences": [
            (kept(one.path), one.recorded.to_plain(), one.replayed.to_plain(), one.where)
            for one in differences
        ],
        "copied": [(kept(path), name) for path, name in copied.items()],
        "removed": list(map(kept, removed)),
        "hidden": [
            (kept(path), is_looked_for)
            for path, is_looked_for in world.hidden_paths()[:_HIDDEN_MAX]
        ],
    }


def _run_without_world(
    request: WorldRequest, refused: str, channel: Channel, program: Callable[[], object]
) -> None:
    """Run a program with its writes refused, where there is no copy that could take them.

    Raises:
        FilesUnprotected: E-FILE-002, when they cannot be refused either, and the recorded run made some.
    """
    without = Confinement(refused=refused, is_experiment=request.is_recorded)
    if REFUSAL in tiers_left_out(os.environ):
        confinement.enter(without)
    else:
        private = os.path.dirname(os.path.dirname(request.folder))
        os.makedirs(private, mode=0o700, exist_ok=True)
        run_refusing([private, *request.shared], without, channel, program)
    if request.native_writes:
        raise FilesUnprotected(
            f"Code other than Python changes {request.native_writes[0]} in this run, and here nothing "
            f"would keep a replay from changing it again: {refused}.",
            "Expected a system that gives namespaces, or a listener for system calls.",
            "Verify it on a Linux where unprivileged user namespaces are allowed.",
            path=request.native_writes[0],
        )


class _SharedFolder:
    """A real folder of the product's own, which stays what it is among copies; opened before they are made."""

    def __init__(self, path: str) -> None:
        self._path, self._descriptor = path, os.open(path, _FOLDER)
        above = [
            mount for mount in visible_mounts(read_mount_table()) if is_below(path, mount.path)
        ]
        self._flags = max(above, key=lambda mount: len(mount.path)).flags

    def mount(self) -> None:
        """Let the path lead to the real folder again."""
        mount(f"/proc/self/fd/{self._descriptor}", self._path, None, MS_BIND)
        # The mount that it was taken from may be read-only by now.
        mount(None, self._path, None, MS_BIND | MS_REMOUNT | self._flags)
        os.close(self._descriptor)


def _run(
    request: WorldRequest,
    channel: Channel,
    in_world: Callable[[socket.socket | None], object],
    marks: ThreadMarks,
    *,
    numbers: bool,
) -> tuple[ProgramEnd, str]:
    """Run the program to its end, supervised where it is recorded in its world.

    Returns:
        How it ended, and the FIFO that it waited for in vain.
    """
    ours, theirs = socket.socketpair()

    def program() -> None:
        ours.close()
        in_world(theirs if request.is_recorded else None)

    start = partial(start_as, request.process, linger_s=_LINGER_S) if numbers else _StartedBelow
    started = start(program)
    theirs.close()
    pass_signals_on(started.init)
    stalled = ""
    if request.is_recorded:
        Keeper(ours, f"{request.folder}-preimages", marks).serve_until_end(started.fileno())
    else:
        stalled = _wait_for_end(started, channel)
    return started.wait(), stalled


class _Started(Protocol):
    """A program that was started."""

    init: int

    def fileno(self) -> int:
        """Return a descriptor that becomes readable when the program has ended."""
        ...

    def wait(self) -> ProgramEnd:
        """Wait for the end, and return how it came."""
        ...


def _wait_for_end(started: _Started, channel: Channel) -> str:
    """Wait until the program has ended; end it when the parent is gone and nobody wants the answer.

    Returns:
        The FIFO that the program waited for in vain, so that it was ended; else nothing.
    """
    poll = select.poll()
    poll.register(started.fileno(), select.POLLIN)
    poll.register(channel.fileno(), 0)  # hanging up is always told
    guard = StallGuard(started.init)
    while True:
        found = poll.poll(LOOK_MS)
        if not found and (stalled := guard.look()):
            with suppress(ProcessLookupError):
                os.kill(started.init, signal.SIGKILL)
            return stalled
        for descriptor, _ in found:
            if descriptor == started.fileno():
                return ""
            poll.unregister(descriptor)
            with suppress(ProcessLookupError):
                os.kill(started.init, signal.SIGKILL)


class _StartedBelow:
    """A program in a fork, under whatever process id it gets."""

    def __init__(self, program: Callable[[], object]) -> None:
        keeper = os.getpid()
        self.init = os.fork()
        if not self.init:
            end_with_parent(keeper)
            be_program(program)
        self._end = os.pidfd_open(self.init)

    def fileno(self) -> int:
        """Return a descriptor that becomes readable when the program has ended."""
        return self._end

    def wait(self) -> ProgramEnd:
        """Wait for the end, and return how it came."""
        code = os.waitstatus_to_exitcode(os.waitpid(self.init, 0)[1])
        return ProgramEnd(code, self.init, False, "no process namespace")


def _enter(*, cuts_network: bool, numbers: bool) -> Namespaces:
    """Enter as many namespaces as this system gives; without mounts there is no world.

    Raises:
        NamespaceRefused: none is to be had.
    """
    wishes = [(cuts_network, numbers), (cuts_network, False), (False, numbers), (False, False)]
    refusal: NamespaceRefused | None = None
    for network, process_numbers in dict.fromkeys(wishes):
        try:
            return enter_namespaces(network=network, process_numbers=process_numbers)
        except NamespaceRefused as refused:
            if refused.is_entered:
                raise
            refusal = refusal or refused
    assert refusal is not None, "an attempt succeeds or is refused"
    raise refusal
