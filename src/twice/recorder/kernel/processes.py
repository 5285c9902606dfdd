"""Processes of a run: which child of the program one descends from, and whether all of them wait for ever.

A process that a replay does not start is served from the record; what it and its descendants wrote has to
be told from what the program and the processes that run again wrote.

A program waits for ever where it opens a FIFO whose other end nobody of the run will open: the process at the
other end is one that a replay does not start, or none of the run's. No process of the run does anything then, and
none waits for a time to pass.

Not for: programs that wait for anything but a FIFO; they wait as they would without a replay.

Invariant: a process whose origin is not known belongs to no child, and a program in which one thread still runs,
or sleeps for a time, is never called stalled.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import NamedTuple

from twice.recorder.kernel.system_calls import NUMBERS

_open, _listdir = open, os.listdir  # the real ones: bound before anything is patched
_OF_PROGRAM, _UNKNOWN, OF_EFFECT = 0, -1, -2

LOOK_MS = 500
_LOOKS = 3
_FOREVER = 0xFFFFFFFF
_WAITING_FOREVER = {
    "open": None, "openat": None, "openat2": None, "wait4": None, "waitid": None, "read": None,
    "recvfrom": None, "recvmsg": None, "accept": None, "accept4": None, "pause": None,
    "rt_sigsuspend": None, "flock": None, "futex": 3, "poll": 2, "ppoll": 2, "epoll_wait": 3,
    "epoll_pwait": 3, "select": 4, "pselect6": 4, "rt_sigtimedwait": 2,
}  # fmt: skip
"""Calls that may wait without an end, and the argument that holds the longest time; None where there is none."""
_TIMED = frozenset({"poll", "epoll_wait", "epoll_pwait"})
"""Of these, those whose time is a number: -1 has no end. Elsewhere it is a pointer: 0 has none."""
_NAMES = {number: name for name, number in NUMBERS.items() if name in _WAITING_FOREVER}


class ProcessTree:
    """The descendants of the program's process, which is the first that makes a call."""

    def __init__(self) -> None:
        self.root = 0
        """Process id of the program, as the supervisor counts; 0 until it makes a call."""
        self._branches: dict[int, int] = {}

    def note_first(self, thread: int) -> None:
        """Note the thread of a call; that of the first one is the program's."""
        if not self.root:
            self.root = read_parent(thread)[0]
            self._branches[self.root] = _OF_PROGRAM

    def knows(self, thread: int) -> bool:
        """Return whether a thread made a call before."""
        return thread in self._branches

    def take_for_effect(self, branch: int) -> None:
        """Note that a declared effect started a child, with all that descends from it."""
        for process in [each for each, of in self._branches.items() if of == branch]:
            self._branches[process] = OF_EFFECT

    def branch_of(self, thread: int) -> int:
        """Return the child of the program that a thread's process is, or descends from.

        It is 0 for the program's own process, -1 for one that cannot be told.
        """
        known = self._branches.get(thread)
        if known is None:
            process, parent = read_parent(thread)
            climbed = []
            while process not in {0, 1}:
                if process in self._branches:
                    branch = self._branches[process]
                    break
                climbed.append(process)
                if parent == self.root:
                    branch = process
                    break
                process, parent = read_parent(parent)
            else:
                branch = _UNKNOWN
            for each in climbed:
                self._branches[each] = branch
            known = self._branches[thread] = branch
        return known


def read_parent(thread: int) -> tuple[int, int]:
    """Return the process of a thread and its parent, 0 where it is gone."""
    try:
        with _open(f"/proc/{thread}/status", "rb") as status:
            fields = dict(
                line.split(b":", 1) for line in status.read(512).splitlines() if b":" in line
            )
        return int(fields[b"Tgid"]), int(fields[b"PPid"])
    except (OSError, KeyError, ValueError):
        return 0, 0


def read_own_number(thread: int) -> int:
    """Return the id that a thread has for itself: another one in a process namespace; 0 where it is gone."""
    with suppress(OSError, ValueError), _open(f"/proc/{thread}/status", "rb") as status:
        for line in status:
            if line.startswith(b"NSpid:"):
                return int(line.split()[-1])
    return 0


def count_threads() -> int:
    """Count the threads of this process at one moment, those of code in C too."""
    with _open("/proc/self/status", encoding="ascii", errors="replace") as status:
        lines = [line for line in status if line.startswith("Threads:")]
    return int(lines[0].split()[1])


def list_processes(root: int, is_wanted: Callable[[int], bool] = lambda _: True) -> Iterator[int]:
    """Yield a process and its descendants, leaving out those that are not wanted with theirs."""
    waiting = [root]
    while waiting:
        pid = waiting.pop()
        yield pid
        with suppress(OSError):
            for task in _listdir(f"/proc/{pid}/task"):
                with _open(f"/proc/{pid}/task/{task}/children", encoding="ascii") as children:
                    waiting += filter(is_wanted, map(int, children.read().split()))


class _WaitingCall(NamedTuple):
    """A system call that a thread waits in; without a name if it runs, or is gone."""

    thread: int
    name: str
    arguments: tuple[int, ...]


class StallGuard:
    """Looks from time to time whether a process and its descendants wait for a FIFO in vain."""

    def __init__(self, root: int) -> None:
        self._root = root
        self._last: list[_WaitingCall] = []
        self._same = 0

    def look(self) -> str:
        """Return the FIFO that the program waits for, where it has waited for several looks; else nothing."""
        calls = list(self._list_calls())
        fifos = [path for call in calls if (path := _find_fifo(call))]
        is_waiting = bool(fifos) and all(map(_has_no_end, calls))
        self._same = self._same + 1 if is_waiting and calls == self._last else 0
        self._last = calls
        return fifos[0] if is_waiting and self._same >= _LOOKS else ""

    def _list_calls(self) -> Iterator[_WaitingCall]:
        for process in list_processes(self._root):
            with suppress(OSError):
                for thread in sorted(map(int, _listdir(f"/proc/{process}/task"))):
                    yield _read_call(thread)


def _read_call(thread: int) -> _WaitingCall:
    with suppress(OSError, ValueError), _open(f"/proc/{thread}/syscall", encoding="ascii") as file:
        number, *arguments = file.read().split()
        name = _NAMES.get(int(number), "")
        return _WaitingCall(thread, name, tuple(int(word, 16) for word in arguments[:6]))
    return _WaitingCall(thread, "", ())


def _has_no_end(call: _WaitingCall) -> bool:
    if call.name not in _WAITING_FOREVER:  # it runs, or it is gone or a zombie
        with suppress(OSError), _open(f"/proc/{call.thread}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()[0] in {b"Z", b"X"}
        return True
    at = _WAITING_FOREVER[call.name]
    if at is None:
        return True
    time = call.arguments[at]
    return time & _FOREVER == _FOREVER if call.name in _TIMED else time == 0


def _find_fifo(call: _WaitingCall) -> str:
    """Return the FIFO that a call waits to open, or nothing."""
    if call.name not in {"open", "openat", "openat2"}:
        return ""
    # It loads ctypes, which no parent of a session needs.
    from twice.recorder.kernel.call_decoder import RemoteMemory

    address = call.arguments[0 if call.name == "open" else 1]
    with suppress(OSError):
        given = os.fsdecode(RemoteMemory().read_path(call.thread, address))
        folder = f"/proc/{call.thread}/cwd"
        if call.name != "open" and (descriptor := call.arguments[0] & _FOREVER) < 1 << 31:
            folder = f"/proc/{call.thread}/fd/{descriptor}"
        path = os.path.join(os.readlink(folder), given)
        if stat.S_ISFIFO(os.stat(f"/proc/{call.thread}/root{path}").st_mode):
            return os.path.normpath(path)
    return ""
