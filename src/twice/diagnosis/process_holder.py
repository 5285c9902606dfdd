"""A session's process that stops where a window opens, and is forked for every execution of it.

What came before the window is executed once: loading the program and its libraries, and every tick up to there.
The fork is the C library's: the hooks that Python and the program have for forks would change the program's
state (``random`` seeds itself anew).

Not for: processes whose forks would disturb each other. A program that holds pipes, sockets or event queues,
has children, timers, writable shared memory or threads of its own is not held; nor is one that has written
through a file that is open. Threads of OpenBLAS and of GNU OpenMP end before the fork and begin again after it.

Invariant: a fork leaves the process that it came from as it was, or tells that it did not.
"""

from __future__ import annotations

import ctypes
import functools
import os
import re
import signal
import stat
import sys
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from typing import Any, Final

from twice.diagnosis.held_window import HELD
from twice.foundation.dataclass import dataclass
from twice.recorder.environment.libraries import (
    list_mapped_files,
    list_mappings,
    read_system_file,
)
from twice.recorder.kernel.libc import end_with_parent
from twice.worker.channel import Channel

HANDED_OVER: Final = 3  # the line to the parent, standard output, standard error
_OMP_PAUSE_HARD: Final = 2
_GNU_OPENMP = re.compile(r"libgomp[^/]*\.so[^/]*$")

# The real ones: bound before anything is patched.
_listdir, _fstat, _lseek, _ftruncate, _close = (
    os.listdir,
    os.fstat,
    os.lseek,
    os.ftruncate,
    os.close,
)
_waitpid, _waitid, _exit, _read, _pipe, _getpid = (
    os.waitpid,
    os.waitid,
    os._exit,
    os.read,
    os.pipe,
    os.getpid,
)
_FREES_MEMORY: Final = "jemalloc_bg_thd"
"""A thread of the allocator of pyarrow, and so of pandas: it gives memory back, and a fork does without it."""
_BYTES_HEADER: Final = sys.getsizeof(b"")
_DEAF: Final = (signal.SIG_DFL, signal.SIG_IGN)


@dataclass(frozen=True)
class Possessions:
    """What a process has that its forks would share.

    Attributes:
        descriptors: that are open.
        shared: ranges of writable shared memory.
    """

    descriptors: frozenset[int]
    shared: frozenset[str]


def list_possessions() -> Possessions:
    """List this process's descriptors and shared memory at this moment."""
    return Possessions(frozenset(_list_descriptors()), frozenset(_list_shared_memory()))


class Holder:
    """Stops a session's process and forks it, again and again; a fork may stop further on.

    Args:
        channel: to the parent; in a fork it is the fork's own line.
        before: what this process had before the program was called.
    """

    def __init__(self, channel: Channel, before: Possessions) -> None:
        self._channel, self._before = channel, before
        # Closed where a fork stops or ends, so that the process it came from goes on.
        self._told = -1

    def hold(self, *, is_spent: bool = False) -> Mapping[str, Any]:
        """Stop here and fork whenever the parent asks; return in each fork, with what it is asked for.

        A process that cannot be held tells the parent why, and ends.

        Args:
            is_spent: whether the way here changed files, so that the process this one came from is of no use.
        """
        trouble = find_trouble(self._before, own={self._told, self._channel.fileno()})
        self._channel.send({"kind": HELD, "fit": not trouble, "why": trouble, "is_spent": is_spent})
        if trouble:
            _exit(0)
        if self._told >= 0:
            _close(self._told)
            self._told = -1
        files, fork, is_spoiled = _list_regular_files(), _find_fork(), False
        while True:
            handed = self._channel.receive_descriptors(HANDED_OVER)
            if not handed:
                _exit(0)
            is_spoiled = is_spoiled or not _put_back(files, self._before)
            if not is_spoiled:
                heard, told = _pipe()
                holder = _getpid()
                child = fork()
                if child == 0:
                    _close(heard)
                    self._told = told
                    end_with_parent(holder)
                    return self._begin(handed)
                _close(told)
                _read(heard, 1)  # until the fork ends, or stops further on
                _close(heard)
                with suppress(ChildProcessError):
                    _waitpid(-1, os.WNOHANG)
                # Nothing is put back yet: a fork that stopped further on may print by now, into the same file.
            for each in handed:
                _close(each)

    def _begin(self, handed: list[int]) -> Mapping[str, Any]:
        line, *outputs = handed
        for each in outputs:
            _close(each)
        self._channel.replace(line)
        return self._channel.receive() or _exit(0)


def shift_heap() -> list[bytes]:
    """Take memory, so that objects made from now on lie elsewhere than in another fork; return what has to be kept.

    Small objects stand in pools of one size each, steps of 16 bytes up to 512, larger ones between other blocks of
    ``malloc``. The place of an object in a small table follows from the low bits of its address: odd numbers of objects
    change these, as another history of a process does and another base address does not.
    """
    small = [
        bytes(size - _BYTES_HEADER)
        for size in range(48, 513, 16)
        for _ in range(1 + size // 16 * 7 % 11 * 2)
    ]
    return [*small, *(bytes(size) for size in range(528, 4096, 48))]


def find_trouble(before: Possessions, *, own: Collection[int] = ()) -> str:
    """Why forks of this process would disturb each other; empty where they would not.

    Args:
        before: what this process had before the program was called.
        own: descriptors that it got since then and that are not the program's.
    """
    if _has_children():
        return "children"
    _end_library_threads()
    if _count_threads() > 1:
        return "threads"
    if any(
        signal.getitimer(each) != (0.0, 0.0) for each in (signal.ITIMER_REAL, signal.ITIMER_PROF)
    ):
        return "timers"
    if signal.getsignal(signal.SIGCHLD) not in _DEAF:
        return "a handler for the end of children"
    if set(_list_shared_memory()) - before.shared:
        return "shared memory"
    for descriptor in set(_list_descriptors()) - before.descriptors - set(own):
        with suppress(OSError):
            kind = _fstat(descriptor).st_mode
            if not (stat.S_ISREG(kind) or stat.S_ISDIR(kind) or stat.S_ISCHR(kind)):
                return "pipes or sockets"
    return ""


def _list_descriptors() -> list[int]:
    return [int(name) for name in _listdir("/proc/self/fd")]


def _list_shared_memory() -> list[str]:
    return [range_ for range_, permissions, _ in list_mappings() if permissions == "rw-s"]


def _list_regular_files() -> dict[int, tuple[int, int, int]]:
    """Offset, size and time of change of every file that is open."""
    found = {}
    for descriptor in _list_descriptors():
        with suppress(OSError):
            held = _fstat(descriptor)
            if stat.S_ISREG(held.st_mode):
                found[descriptor] = (
                    _lseek(descriptor, 0, os.SEEK_CUR),
                    held.st_size,
                    held.st_mtime_ns,
                )
    return found


def _put_back(files: Mapping[int, tuple[int, int, int]], before: Possessions) -> bool:
    """Put offsets back, and the ends of our own files; whether no file of the program's was changed."""
    for descriptor, (offset, size, changed) in files.items():
        with suppress(OSError):
            held = _fstat(descriptor)
            if descriptor in before.descriptors:
                if held.st_size != size:
                    _ftruncate(descriptor, size)
            elif (held.st_size, held.st_mtime_ns) != (size, changed):
                return False
            _lseek(descriptor, offset, os.SEEK_SET)
    return True


def _count_threads() -> int:
    """Threads that a fork would have to have, besides the one that forks."""
    names = [
        read_system_file(f"/proc/self/task/{each}/comm") for each in _listdir("/proc/self/task")
    ]
    # One that has ended meanwhile has no name.
    return sum(bool(name) and name.strip() != _FREES_MEMORY for name in names)


def _has_children() -> bool:
    try:
        _waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True


def _end_library_threads() -> None:
    """Let GNU OpenMP and OpenBLAS end their threads; they start them again when they are needed.

    OpenBLAS ends its own before any fork, and so before one that nobody needs.
    """
    if _count_threads() == 1:
        return
    for path in filter(_GNU_OPENMP.search, list_mapped_files()):
        with suppress(OSError, AttributeError):
            ctypes.CDLL(path).omp_pause_resource_all(_OMP_PAUSE_HARD)
    child = _find_fork()()
    if child == 0:
        _exit(0)
    _waitpid(child, 0)


@functools.cache
def _find_fork() -> Callable[[], int]:
    """Find the C library's ``fork`` in a form that keeps the interpreter's lock."""
    found: Callable[[], int] = ctypes.PyDLL(None).fork
    return found
