"""The keeper of a replay: it makes the world, runs the program in it, and says what was left behind.

Namespaces are entered by the process that the parent started; the program runs below a process that gives it the
process id of the recording where the kernel allows that. When the program has ended, so has everything that it
started, and the files it leaves are compared from outside.

Where there is no world, every change of a file by other code than Python is refused and named; Python's own writes
go to a private folder, as ever. Landlock is the belt: it also holds where the listener cannot read a path, where
another thread exchanges it, or when the listener is gone.

Invariant: either every path that the program can reach is a copy, or the program runs under a lower tier
that says so. Without a listener nothing is refused, and the report says that, too.
"""

from __future__ import annotations

import os
import socket
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import field, replace

from twice.errors import FilesUnprotected
from twice.foundation.dataclass import dataclass
from twice.recorder.kernel import confinement
from twice.recorder.kernel.confinement import (
    NETWORK,
    NUMBER,
    REFUSAL,
    VARIABLE,
    Confinement,
    tiers_left_out,
)
from twice.recorder.kernel.confinement import WORLD as WORLD_TIER
from twice.recorder.kernel.file_state import FileHistory
from twice.recorder.kernel.keeper import EventLoop, Recording, end_like, wait_for_end
from twice.recorder.kernel.kept_program import KeptProgram, ProgramEnd, start_program
from twice.recorder.kernel.libc import MS_BIND, MS_REMOUNT, mount
from twice.recorder.kernel.mounts import read_mount_table, visible_mounts
from twice.recorder.kernel.namespaces import (
    NamespaceRefused,
    Namespaces,
    bring_loopback_up,
    enter_namespaces,
    give_up_rights,
)
from twice.recorder.kernel.paths import escape_path, is_below
from twice.recorder.kernel.placements import ChangedInput
from twice.recorder.kernel.replay_differences import copy_differing
from twice.recorder.kernel.seccomp import (
    FIRST_WITH_TRUNCATE,
    install_filter,
    is_supported,
    refuse_unseen_calls,
    refusing_filter,
    restrict_writes,
)
from twice.recorder.kernel.thread_marks import ThreadMarks
from twice.recorder.kernel.world import World
from twice.recorder.kernel.write_refusal import RefusingSupervisor
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
        process: the recorded process id; None where none is known.
        compares: whether the files that the program leaves are held against the record.
        keep: descriptor of a real folder into which they are copied; None for nowhere.
        differing: descriptor of a real folder into which the first that differ are copied; None for nowhere.
        is_recorded: whether the program is recorded in its world, and so supervised.
        shared: real folders in which the product writes its own files.
        placed: real folders that stand in the place of others, by the path of the place.
        native_writes: files that other code than Python changed in the recorded run, as far as anybody asks: one is
            enough.
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
    placed: Mapping[str, str] = field(default_factory=dict)
    native_writes: Sequence[str] = ()


def run_in_world(request: WorldRequest, channel: Channel, program: Callable[[], object]) -> None:
    """Run a program in a world and end this process as it ended; return where no world is to be had.

    The last message to the parent is what was left behind. A return, with nothing executed, means that writes cannot
    be refused either; ``confinement.current()`` says why.
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
    shared = _open_shared({**{path: path for path in request.shared}, **request.placed})
    report = world.enter(entered)
    if entered.has_network:
        with suppress(OSError):
            bring_loopback_up()
    for path, descriptor, flags in shared:
        mount(f"/proc/self/fd/{descriptor}", path, None, MS_BIND)
        # The mount that it was taken from may be read-only by now.
        mount(None, path, None, MS_BIND | MS_REMOUNT | flags)
        os.close(descriptor)

    marks = ThreadMarks()
    ours, theirs = socket.socketpair()

    def in_world() -> None:
        ours.close()
        if not request.is_recorded:
            theirs.close()
        world.close_descriptors()
        for folder in (request.keep, request.differing):
            if folder is not None:
                os.close(folder)
        give_up_rights(entered)
        with suppress(OSError):
            refuse_unseen_calls()
        keeper = theirs if request.is_recorded else None
        confinement.enter(
            Confinement("world", is_cut_off=entered.has_network, keeper=keeper, marks=marks)
        )
        program()

    numbers = entered.has_process_numbers
    started = start_program(request.process, in_world, has_namespace=numbers, linger_s=_LINGER_S)
    theirs.close()
    events = EventLoop()
    if request.is_recorded:
        Recording(ours, f"{request.folder}-preimages", marks).serve(events)

    def describe(end: ProgramEnd) -> dict[str, object]:
        return {
            "tier": "world",
            "exit_code": end.exit_code,
            "number": {"given": end.number, "wanted": request.process, "problem": end.problem},
            "is_cut_off": entered.has_network,
            "uncovered": list(map(escape_path, report.uncovered)),
            **_describe_files(world, request, changed),
        }

    code = _report_end(started, channel, events, describe, may_stall=request.is_recorded)
    with suppress(OSError):
        world.discard()
    end_like(code)


def _open_shared(folders: Mapping[str, str]) -> list[tuple[str, int, int]]:
    """Open real folders, by the path at which they will stand among copies, before these are made; path, descriptor, flags."""
    mounts = visible_mounts(read_mount_table()) if folders else []
    return [
        (
            path,
            os.open(folder, _FOLDER),
            max((m for m in mounts if is_below(folder, m.path)), key=lambda m: len(m.path)).flags,
        )
        for path, folder in folders.items()
    ]


def _report_end(
    started: KeptProgram,
    channel: Channel,
    events: EventLoop,
    describe: Callable[[ProgramEnd], dict[str, object]],
    *,
    may_stall: bool,
) -> int:
    """Wait until everything has ended, and tell the parent what was left behind; return the exit code."""
    stalled = wait_for_end(started, channel, events, may_stall=may_stall)
    end = started.wait()
    channel.send({"kind": KEPT, "stalled": escape_path(stalled), **describe(end)})
    channel.close()
    return end.exit_code


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
            (escape_path(one.path), one.recorded.to_plain(), one.now.to_plain()) for one in changed
        ],
        "differences": [
            (escape_path(one.path), one.recorded.to_plain(), one.replayed.to_plain(), one.where)
            for one in differences
        ],
        "copied": [(escape_path(path), name) for path, name in copied.items()],
        "removed": list(map(escape_path, removed)),
        "hidden": [
            (escape_path(path), is_looked_for)
            for path, is_looked_for in world.hidden_paths()[:_HIDDEN_MAX]
        ],
    }


def _run_without_world(
    request: WorldRequest, refused: str, channel: Channel, program: Callable[[], object]
) -> None:
    """Run a program with its writes refused, where there is no copy that could take them.

    E-FILE-002, when they cannot be refused either, and the recorded run made some.
    """
    without = Confinement(refused=refused, is_experiment=request.is_recorded)
    if REFUSAL not in tiers_left_out(os.environ) and is_supported():
        private = os.path.dirname(os.path.dirname(request.folder))
        os.makedirs(private, mode=0o700, exist_ok=True)
        allowed = [private, *request.shared, *request.placed.values()]
        without = _run_refusing(allowed, without, channel, program)
    confinement.enter(without)
    if request.native_writes:
        raise FilesUnprotected(
            f"Code other than Python changes {request.native_writes[0]} in this run, and here nothing "
            f"would keep a replay from changing it again: {refused}.",
            "Expected a system that gives namespaces, or a listener for system calls.",
            "Verify it on a Linux where unprivileged user namespaces are allowed.",
            path=request.native_writes[0],
        )


def _run_refusing(
    allowed: list[str], without: Confinement, channel: Channel, program: Callable[[], object]
) -> Confinement:
    """Run a program that may change files in some folders alone; end this process as it ended.

    The last message to the parent says what was refused. Returns, with nothing executed, the confinement of a process
    that got no listener: Landlock holds it, where there is one, and tells nobody what it refuses.
    """
    ours, theirs = socket.socketpair()

    def in_filter() -> None:
        ours.close()
        code = refusing_filter()
        # The listener reads a path and the kernel reads it again: a thread that exchanges it in between would get by.
        is_held = _restrict(allowed) >= FIRST_WITH_TRUNCATE
        unheld = "" if is_held else "; without Landlock, threads that exchange a path are not held"
        try:
            listener = install_filter(code)
        except OSError as error:
            theirs.send(f"no listener for system calls: {error.strerror}".encode())
            return
        confinement.enter(replace(without, tier="refusal"))
        # Data have to go with a descriptor: the byte, and what the report adds to the reason.
        socket.send_fds(theirs, [unheld.encode() or b" "], [listener])
        os.close(listener)
        theirs.close()
        program()

    started = start_program(None, in_filter, has_namespace=False, linger_s=_LINGER_S)
    theirs.close()
    data, handed, _, _ = socket.recv_fds(ours, 256, 1)
    ours.close()
    why = data.decode(errors="replace").strip()
    if handed:
        supervisor, events = RefusingSupervisor(handed[0], allowed), EventLoop()
        events.add_supervisor(supervisor)

        def describe(_end: ProgramEnd) -> dict[str, object]:
            refused = [[escape_path(path), call] for path, call in supervisor.refused.items()]
            return {"tier": "refusal", "refused": without.refused + why, "refused_writes": refused}

        end_like(_report_end(started, channel, events, describe, may_stall=False))
    started.wait()
    _restrict(allowed)
    why = why or "the process for it ended early"
    return replace(without, refused=f"{without.refused}; {why}")


def _restrict(allowed: list[str]) -> int:
    """Restrict this process and its children to changes in some folders; return the version of Landlock."""
    tempfile.gettempdir()  # it looks for a folder that takes files, by writing to it, and remembers
    return restrict_writes([*allowed, "/dev", "/proc"])


def _enter(*, cuts_network: bool, numbers: bool) -> Namespaces:
    """Enter as many namespaces as this system gives; without mounts there is no world."""
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
