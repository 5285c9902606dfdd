"""What the kernel does around this process, as the process itself knows it.

One process executes one session, so this is one value for the process. A session asks it three things:
whether files may be written at their own places, because the whole world is a copy; to begin watching
before the program is loaded; and, when the program has ended, what its processes did to files.

Each tier is tried in a process that is thrown away before it is used. ``TWICE_WITHOUT=world,number`` leaves
tiers out, as a system that refuses them would. The lowest one lists the program's folders at the beginning and
at the end: it needs nothing of the system, and sees nothing but traces. A file that was changed is named, what it
held before is gone, and who read which file is never known.

Invariant: without a keeper every question has an answer: nothing is watched, nothing is a copy.
"""

from __future__ import annotations

import os
import select
import socket
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import field
from functools import wraps
from time import time_ns  # the real one: bound before anything is patched
from typing import Any, Final, Literal, ParamSpec, TypeVar

from twice.errors import UsageError
from twice.foundation.dataclass import dataclass
from twice.foundation.digests import Algorithm
from twice.recorder.kernel.file_state import (
    FileHistory,
    ProcessFile,
    Signature,
    signature_of,
    walk_tree,
)
from twice.recorder.kernel.paths import PackagePaths
from twice.recorder.kernel.processes import read_parent
from twice.recorder.kernel.thread_marks import ThreadMarks
from twice.worker.channel import Channel

P = ParamSpec("P")
T = TypeVar("T")
FilesTier = Literal["world", "supervisor", "refusal", "listing", "none"]
SUPERVISOR: Final = "supervisor"
WORLD: Final = "world"
NUMBER: Final = "number"
NETWORK: Final = "network"
REFUSAL: Final = "refusal"
TIERS: Final = (SUPERVISOR, WORLD, NUMBER, NETWORK, REFUSAL)
VARIABLE: Final = "TWICE_WITHOUT"

_getpid, _listdir = os.getpid, os.listdir  # the real ones: bound before anything is patched
_GENERATIONS_MAX = 64
_LISTED_MAX = 200_000
"""Files after which a listing gives up: a home folder, or the root of the machine."""


def tiers_left_out(environ: Mapping[str, str]) -> frozenset[str]:
    """Return the tiers that the user asked to do without; E-USE-001 for a name that is none."""
    names = [name.strip() for name in environ.get(VARIABLE, "").split(",") if name.strip()]
    for name in names:
        if name not in TIERS:
            raise UsageError(
                f"{VARIABLE} names {name!r}, which is not a tier.",
                f"Expected some of {', '.join(TIERS)}, with commas between.",
                f"For example: {VARIABLE}=world",
                name=name,
            )
    return frozenset(names)


def retry_interrupted(call: Callable[P, T]) -> Callable[P, T]:
    """Return a function that calls again whenever a signal interrupted it.

    Python calls again by itself (PEP 475), but not what no local file system interrupts: listing a folder, making,
    renaming and removing. The kernel gives such a call up before the keeper lets it proceed, so it has not happened.
    Handlers of signals run in between; what they raise ends it.
    """

    @wraps(call)
    def retry(*args: P.args, **options: P.kwargs) -> T:
        while True:
            try:
                return call(*args, **options)
            except InterruptedError:
                pass

    return retry


@dataclass(frozen=True)
class NativeFiles:
    """What the processes of a run did to files, whatever language their code was written in.

    Attributes:
        tier: how it was learned; ``none`` where nobody looked.
        connections: addresses that code connected to by itself, with how often.
        changed: by a listing: files below the program's folders that were made or changed.
        problems: what could not be told, with how often.
        folder: where the contents of changed files are kept, by digest.
        refused: why no higher tier was to be had; empty where it was.
    """

    tier: FilesTier = "none"
    histories: Sequence[FileHistory] = ()
    connections: Sequence[tuple[str, int]] = ()
    changed: Sequence[str] = ()
    problems: tuple[tuple[str, int], ...] = ()
    folder: str = ""
    refused: str = ""


@dataclass
class Confinement:
    """The tier that this process is in, and its line to the keeper.

    Attributes:
        tier: of files.
        refused: why it is no higher one.
        is_cut_off: whether a network namespace keeps the network away.
        keeper: line to the process that supervises this one; None without one.
        marks: what threads of this process are about to do, as the keeper knows it.
        parent: descriptor of the process that asked for this session, where a keeper stands between.
        began_ns: when this confinement began, in nanoseconds since 1970.
        is_experiment: whether a program is recorded here that is to change no file of the user's, without a world.
        is_watching: whether the keeper notes the files of this process and its descendants now.
    """

    tier: FilesTier = "none"
    refused: str = ""
    is_cut_off: bool = False
    keeper: socket.socket | None = field(default=None, repr=False)
    marks: ThreadMarks | None = field(default=None, repr=False)
    parent: int | None = field(default=None, repr=False)
    began_ns: int = 0
    is_experiment: bool = False
    is_watching: bool = False
    _roots: tuple[Sequence[str], Sequence[str]] | None = field(default=None, repr=False)
    _listed: Mapping[str, Signature] | None = field(default=None, repr=False)
    _served: set[int] = field(default_factory=set)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    @property
    def is_world(self) -> bool:
        """Return whether files are written at their own places, because all of them are copies."""
        return self.tier == "world"

    @property
    def covers_processes(self) -> bool:
        """Return whether processes of the run are part of it: seen now, or run again in a copy."""
        return self.is_watching or self.is_world

    @property
    def has_served(self) -> bool:
        """Return whether the program started processes that a replay does not start."""
        return bool(self._served)

    def begin(
        self, *, own: Sequence[str], roots: Sequence[str], algorithm: Algorithm, copy_limit: int
    ) -> None:
        """Let the keeper see every file that this process and its descendants touch from here on.

        ``own`` are paths of the product's own files, which are no part of the run, ``roots`` folders of the program.
        Files of more than ``copy_limit`` bytes are not copied before they are changed.
        """
        if self.is_watching:
            return
        if self.keeper is None:
            self._begin_listing(own, roots)
            return
        from twice.recorder.kernel.seccomp import install_filter, recording_filter

        several = len(_listdir("/proc/self/task")) > 1
        code = recording_filter()
        Channel(self.keeper).send(
            {
                "do": "begin",
                "own": list(own),
                "roots": list(roots),
                "algorithm": algorithm.value,
                "copy_limit": copy_limit,
            }
        )
        try:
            listener = install_filter(code, every_thread=several)
        except OSError as error:
            self.refused = f"no listener for system calls: {error.strerror}"
            if self.tier == "supervisor":
                self.tier = "none"
            self.keeper.close()
            self.keeper = None
            self._begin_listing(own, roots)
            return
        # Nothing that is filtered may be called between installing and handing over.
        socket.send_fds(self.keeper, [b"L"], [listener])
        os.close(listener)
        self.keeper.recv(1)
        self.is_watching = True
        # The first call tells the keeper who the program is.
        os.close(os.open(os.devnull, os.O_RDONLY))

    def is_parent_gone(self) -> bool:
        """Return whether the process that asked for this session has ended."""
        if self.parent is None:
            return False
        poll = select.poll()
        poll.register(self.parent, select.POLLIN)
        return bool(poll.poll(0))

    def inside_effect(self) -> AbstractContextManager[None]:
        """Assign this thread's changes of files to a declared effect while the block runs."""
        if self.marks is None or not self.is_watching:
            return nullcontext()
        return self.marks.inside_effect()

    def expect_connect(self) -> None:
        """Let the next connection of this thread count as made by Python."""
        if self.marks is not None and self.is_watching:
            self.marks.expect_connect()

    def take_process(self, pid: int, given: Iterable[str]) -> tuple[list[ProcessFile], str]:
        """Return the files that an ended child process left, and the folder with their contents.

        It is a child that a replay will not start; ``given`` are files that it wrote by descriptors of the program's.
        """
        self._served.add(pid)
        if not self.is_watching or self.keeper is None:
            return [], ""
        answer = self._ask({"do": "process", "pid": pid, "given": [*given]})
        return [ProcessFile.from_plain(fields) for fields in answer["left"]], answer["folder"]

    def note_served(self, pid: int) -> None:
        """Note that a replay will not start this child."""
        self._served.add(pid)

    def count_running_served(self) -> int:
        """Return how many of the children that a replay will not start have not ended."""
        running = 0
        for child in self._served:
            with suppress(ChildProcessError):  # it was waited for
                running += os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None
        return running

    def is_own_process(self, pid: int) -> bool:
        """Return whether a process is a child of this one, or descends from one, and runs in replays too."""
        own, seen = _getpid(), 0
        while pid > 1 and seen < _GENERATIONS_MAX:
            if pid in self._served:
                return False
            if pid == own:
                return seen > 0
            pid, seen = read_parent(pid)[1], seen + 1
        return False

    def collect(self) -> NativeFiles:
        """Return the touched files, and let the keeper note nothing more."""
        if self._roots is not None:
            before, now = self._listed, _list_files(*self._roots)
            self._roots = None
            if before is None or now is None:
                return NativeFiles(refused=f"{self.refused}; too many files to list".strip("; "))
            changed = [path for path in sorted(now) if before.get(path) != now[path]]
            return NativeFiles("listing", changed=changed, refused=self.refused)
        if not self.is_watching or self.keeper is None:
            return NativeFiles(refused=self.refused)
        answer = self._ask({"do": "collect", "served": sorted(self._served)})
        self.is_watching = False
        return NativeFiles(
            "supervisor",
            [FileHistory.from_plain(fields) for fields in answer["histories"]],
            connections=[(words, count) for words, count in answer["connections"]],
            problems=tuple((text, count) for text, count in answer["problems"]),
            folder=answer["folder"],
        )

    def close(self) -> None:
        """Close the line to the keeper, because the interpreter would warn of an open one at its end."""
        if self.keeper is not None:
            self.keeper.close()

    def _begin_listing(self, own: Sequence[str], roots: Sequence[str]) -> None:
        self._roots = (roots, own)
        self._listed = _list_files(roots, own)

    def _ask(self, message: dict[str, object]) -> Any:
        assert self.keeper is not None, "a process that is watched has a keeper"
        line = Channel(self.keeper)
        with self._lock:  # processes are waited for on any thread
            line.send(message)
            answer = line.receive()
        assert answer is not None, "a keeper that is gone takes this process with it"
        return answer


_current = Confinement()


def current() -> Confinement:
    """Return the confinement of this process."""
    return _current


def enter(confinement: Confinement) -> None:
    """Set the confinement of this process, from here on."""
    global _current  # noqa: PLW0603  (one confinement for a process, as the kernel has it)
    _current = confinement
    confinement.began_ns = time_ns()


def _list_files(roots: Iterable[str], own: Iterable[str]) -> Mapping[str, Signature] | None:
    """Return traces of the files below some folders, by path; None where there are too many. Opens no file."""
    packages, left_out = PackagePaths(roots), frozenset(own)
    folders = dict.fromkeys(os.path.realpath(root) for root in roots)
    marks: dict[str, Signature] = {}
    for entry in walk_tree(folders, lambda path: path in left_out or packages.is_of_machine(path)):
        with suppress(OSError):
            if not entry.is_dir(follow_symlinks=False):
                marks[entry.path] = signature_of(entry.stat(follow_symlinks=False))
        if len(marks) >= _LISTED_MAX:
            return None
    return marks
