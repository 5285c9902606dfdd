"""Finds a program that waits for ever: it opens a FIFO whose other end nobody of the run will open.

The process at the other end may be one that a replay does not start, or none of the run's. No process of the run
does anything then, and none waits for a time to pass.

Not for: programs that wait for anything else; they wait as they would without a replay.

Invariant: a program in which one thread still runs, or sleeps for a time, is never called stalled.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import suppress

from twice.foundation.dataclass import dataclass
from twice.recorder.kernel.process_tree import list_processes
from twice.recorder.kernel.remote_memory import RemoteMemory
from twice.recorder.kernel.system_calls import NUMBERS, WAITS

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


@dataclass(frozen=True)
class _Call:
    """A system call that a thread waits in."""

    thread: int
    name: str
    arguments: tuple[int, ...]


class StallGuard:
    """Looks at a process and its descendants from time to time.

    Args:
        root: process id.
    """

    def __init__(self, root: int) -> None:
        self._root = root
        self._last: list[_Call] = []
        self._same = 0

    def look(self) -> str:
        """Return the FIFO that the program waits for, where it has waited for several looks; else nothing."""
        calls = list(self._calls())
        fifos = [path for call in calls if (path := _fifo_of(call))]
        is_waiting = bool(fifos) and all(map(_has_no_end, calls))
        self._same = self._same + 1 if is_waiting and calls == self._last else 0
        self._last = calls
        return fifos[0] if is_waiting and self._same >= _LOOKS else ""

    def _calls(self) -> Iterator[_Call]:
        for process in list_processes(self._root, lambda _: True):
            try:
                threads = sorted(os.listdir(f"/proc/{process}/task"), key=int)
            except OSError:
                continue
            for thread in threads:
                yield _read_call(int(thread))


def _read_call(thread: int) -> _Call:
    """Return the call in which a thread waits; one without a name if it runs, or is gone."""
    with suppress(OSError, ValueError), open(f"/proc/{thread}/syscall", encoding="ascii") as file:
        number, *arguments = file.read().split()
        name = _NAMES.get(int(number), "")
        return _Call(thread, name, tuple(int(word, 16) for word in arguments[:6]))
    return _Call(thread, "", ())


def _has_no_end(call: _Call) -> bool:
    if call.name not in _WAITING_FOREVER:
        return _is_zombie(call.thread)
    at = _WAITING_FOREVER[call.name]
    if at is None:
        return True
    time = call.arguments[at]
    return time & _FOREVER == _FOREVER if call.name in _TIMED else time == 0


def _is_zombie(thread: int) -> bool:
    with (
        suppress(OSError),
        open(f"/proc/{thread}/stat", encoding="utf-8", errors="replace") as file,
    ):
        return file.read().rpartition(")")[2].split()[0] in {"Z", "X"}
    return True


def _fifo_of(call: _Call) -> str:
    """Return the FIFO that a call waits to open, or nothing."""
    if call.name not in {"open", "openat", "openat2"}:
        return ""
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


_NAMES = {number: name for name, number in {**NUMBERS, **WAITS}.items() if name in _WAITING_FOREVER}
