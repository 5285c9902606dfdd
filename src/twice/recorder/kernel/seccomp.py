"""What the kernel lets an ordinary process forbid or answer: filters of system calls, their listener, Landlock.

A filter sees numbers and registers, never what a pointer leads to. It stays with the process and all its
descendants, whatever they execute, and cannot be taken off. Its listener receives one intercepted call after the
other, and lets each proceed or refuses it. Landlock lets a process change files in some folders alone: it denies
writing, creating, removing, linking and, from Linux 6.2 on, truncating, and lets changes of permissions, owners,
times and attributes through.

Source: seccomp(2), seccomp_unotify(2), landlock(7); the kernel's documentation of classic BPF.

Invariant: a call of another architecture, and ``io_uring``, which would pass by the filter, answer ENOSYS; every
notification that was received is answered once, or its process is gone.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import struct
from collections.abc import Iterable
from contextlib import suppress
from typing import Final, NamedTuple

from twice.recorder.kernel.file_state import closing_descriptor
from twice.recorder.kernel.libc import set_no_new_privs, syscall
from twice.recorder.kernel.system_calls import (
    ARCHITECTURE,
    ATTRIBUTE_CHANGES,
    CHANGES,
    CONNECTIONS,
    EXECUTIONS,
    NUMBERS,
    OPENS,
    UNNAMED,
    WRITE_FLAGS,
    path_calls,
)

_LOAD, _IF_EQUAL, _IF_AT_LEAST, _IF_ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _NOTIFY, _NO_SUCH_CALL = 0x7FFF0000, 0x7FC00000, 0x00050000 | errno.ENOSYS
_NUMBER_AT, _ARCHITECTURE_AT, _ARGUMENTS_AT = 0, 4, 16
_FOREIGN_NUMBERS = 0x40000000  # x32 shares the architecture's word
_SET_MODE_FILTER = 1
_ALL_THREADS, _NEW_LISTENER, _FOREIGN_THREAD_IS_ESRCH, _WAIT_KILLABLE = 1, 8, 16, 32

_RECEIVE, _RESPOND, _IS_VALID, _SET_FLAGS = 0xC0502100, 0xC0182101, 0x40082102, 0x40082104
_SYNC_WAKE_UP = 1
_PROCEED = 1
_NOTIFICATION = struct.Struct("=QIIiIQ6Q")
_RESPONSE = struct.Struct("=QqiI")

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446  # the same on every architecture
_VERSION_ASKED = 1
_PATH_BENEATH = 1
_WRITE_FILE, _REMOVE_DIR, _REMOVE_FILE = 1 << 1, 1 << 4, 1 << 5
_MAKE_ANY: Final = sum(1 << bit for bit in range(6, 13))
_REFER, _TRUNCATE = 1 << 13, 1 << 14
_FIRST_WITH_REFER, FIRST_WITH_TRUNCATE = 2, 3


def is_supported() -> bool:
    """Return whether this architecture has filters that twice can write."""
    return bool(ARCHITECTURE) and os.name == "posix"


def recording_filter() -> bytes:
    """Return the filter of a recording: every open, change of a name, execution and connection."""
    others = (NUMBERS[name] for name in (*CONNECTIONS, *UNNAMED) if name in NUMBERS)
    return _assemble([*path_calls(OPENS, CHANGES, EXECUTIONS), *others], {})


def refusing_filter() -> bytes:
    """Return the filter of a replay without namespaces: whatever would change a file."""
    opens = path_calls(OPENS)
    by_flags = {number: call.flags for number, call in opens.items() if call.flags is not None}
    rest = [number for number in opens if number not in by_flags]
    others = (NUMBERS[name] for name in UNNAMED if name in NUMBERS)
    return _assemble([*rest, *path_calls(CHANGES, ATTRIBUTE_CHANGES), *others], by_flags)


def refuse_unseen_calls() -> None:
    """Forbid this process and its children the calls that a recording does without; the kernel may refuse it."""
    _set_filter(_assemble([], {}), 0)


def install_filter(code: bytes, *, every_thread: bool = False) -> int:
    """Install a filter in this process and return its listener's descriptor.

    Without ``every_thread`` it holds in the calling thread and what that starts from here on. The kernel may refuse
    it: with EBUSY, when this process has a listener already.
    """
    flags = _NEW_LISTENER | (_ALL_THREADS | _FOREIGN_THREAD_IS_ESRCH if every_thread else 0)
    try:
        # From Linux 5.19 on: no signal takes a call back half-way.
        return _set_filter(code, flags | _WAIT_KILLABLE)
    except OSError as error:
        if error.errno != errno.EINVAL:
            raise
        return _set_filter(code, flags)


def _set_filter(code: bytes, flags: int) -> int:
    set_no_new_privs()
    held = ctypes.create_string_buffer(code, len(code))
    program = struct.pack("=HxxxxxxQ", len(code) // 8, ctypes.addressof(held))
    wanted = ctypes.create_string_buffer(program, len(program))
    return syscall(NUMBERS["seccomp"], _SET_MODE_FILTER, flags, wanted)


def _assemble(asked: list[int], by_flags: dict[int, int]) -> bytes:
    """Return a program: ask about these numbers, and about some only where their flags write."""
    lines: list[tuple[int, int, int, int]] = [
        (_LOAD, 0, 0, _ARCHITECTURE_AT),
        (_IF_EQUAL, 1, 0, ARCHITECTURE),
        (_RETURN, 0, 0, _NO_SUCH_CALL),
        (_LOAD, 0, 0, _NUMBER_AT),
        (_IF_AT_LEAST, 0, 1, _FOREIGN_NUMBERS),
        (_RETURN, 0, 0, _NO_SUCH_CALL),
        (_IF_EQUAL, 0, 1, NUMBERS["io_uring_setup"]),
        (_RETURN, 0, 0, _NO_SUCH_CALL),
    ]
    for number in asked:
        lines += [(_IF_EQUAL, 0, 1, number), (_RETURN, 0, 0, _NOTIFY)]
    for number, register in sorted(by_flags.items()):
        lines += [
            (_IF_EQUAL, 0, 4, number),
            (_LOAD, 0, 0, _ARGUMENTS_AT + 8 * register),
            (_IF_ANY_BIT, 0, 1, WRITE_FLAGS),
            (_RETURN, 0, 0, _NOTIFY),
            (_RETURN, 0, 0, _ALLOW),
        ]
    lines.append((_RETURN, 0, 0, _ALLOW))
    return b"".join(struct.pack("=HBBI", *line) for line in lines)


class Notification(NamedTuple):
    """One intercepted system call; its thread waits until it is answered.

    ``id`` is given once, ``pid`` is the thread's in the supervisor's process namespace, and ``arguments`` are the six
    registers, as unsigned 64-bit numbers.
    """

    id: int
    pid: int
    number: int
    arguments: tuple[int, ...]


class Listener:
    """The supervisor's end of a filter, by the descriptor from installing it."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor
        self._buffer = bytearray(_NOTIFICATION.size)
        self._zeros = bytes(_NOTIFICATION.size)
        # From Linux 6.6 on the kernel hands the processor over at once: 10 µs for an intercepted call, not 80.
        with suppress(OSError):
            fcntl.ioctl(descriptor, _SET_FLAGS, _SYNC_WAKE_UP)

    def receive(self) -> Notification | None:
        """Return the next notification, or None when its process died while it waited."""
        self._buffer[:] = self._zeros  # the kernel refuses a buffer that is not empty
        try:
            fcntl.ioctl(self.descriptor, _RECEIVE, self._buffer, True)
        except OSError as error:
            if error.errno in {errno.ENOENT, errno.EINTR}:
                return None
            raise
        number, pid, _, call, _, _, *arguments = _NOTIFICATION.unpack(self._buffer)
        return Notification(number, pid, call, tuple(arguments))

    def answer(self, notification: Notification, error: int = 0) -> None:
        """Let the kernel make the call as it was asked for, or answer it with an error number."""
        answer = _RESPONSE.pack(notification.id, 0, -error, 0 if error else _PROCEED)
        try:
            fcntl.ioctl(self.descriptor, _RESPOND, answer)
        except OSError as failure:
            if failure.errno != errno.ENOENT:  # the process died, or a signal took the call back
                raise

    def is_waiting(self, notification: Notification) -> bool:
        """Return whether the call still waits, so that its process id names nobody else by now."""
        try:
            fcntl.ioctl(self.descriptor, _IS_VALID, struct.pack("=Q", notification.id))
        except OSError:
            return False
        return True


def restrict_writes(allowed: Iterable[str]) -> int:
    """Let files be changed below some folders alone, from here on, in this process and its descendants.

    Folders that are not there are left out. Returns the kernel's version of Landlock; 0, with nothing done, where it
    has none.
    """
    try:
        version = syscall(_CREATE_RULESET, None, 0, _VERSION_ASKED)
    except OSError:
        return 0
    rights = _WRITE_FILE | _REMOVE_DIR | _REMOVE_FILE | _MAKE_ANY
    rights |= _REFER if version >= _FIRST_WITH_REFER else 0
    rights |= _TRUNCATE if version >= FIRST_WITH_TRUNCATE else 0
    handled = ctypes.create_string_buffer(struct.pack("=Q", rights), 8)
    with closing_descriptor(syscall(_CREATE_RULESET, handled, 8, 0)) as rules:
        for folder in allowed:
            try:
                opened = os.open(folder, getattr(os, "O_PATH", 0) | os.O_CLOEXEC)
            except OSError:
                continue
            with closing_descriptor(opened):
                rule = ctypes.create_string_buffer(struct.pack("=Qi", rights, opened), 12)
                syscall(_ADD_RULE, rules, _PATH_BENEATH, rule, 0)
        set_no_new_privs()
        syscall(_RESTRICT_SELF, rules, 0)
    return version
