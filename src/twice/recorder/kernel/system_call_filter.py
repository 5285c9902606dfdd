"""Filters of system calls: which calls a supervisor is asked about, as programs for the kernel.

A filter sees numbers and registers, never what a pointer leads to. It stays with the process and all its
descendants, whatever they execute, and cannot be taken off.

Source: seccomp(2); the kernel's documentation of classic BPF.

Invariant: a call of another architecture, and ``io_uring``, which would pass by the filter, answer ENOSYS.
"""

from __future__ import annotations

import ctypes
import errno
import os
import struct
from collections.abc import Iterable

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
)

_LOAD, _IF_EQUAL, _IF_AT_LEAST, _IF_ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _NOTIFY, _NO_SUCH_CALL = 0x7FFF0000, 0x7FC00000, 0x00050000 | errno.ENOSYS
_NUMBER_AT, _ARCHITECTURE_AT, _ARGUMENTS_AT = 0, 4, 16
_FOREIGN_NUMBERS = 0x40000000  # x32 shares the architecture's word
_SET_MODE_FILTER = 1
_ALL_THREADS, _NEW_LISTENER, _FOREIGN_THREAD_IS_ESRCH, _WAIT_KILLABLE = 1, 8, 16, 32


def recording_filter() -> bytes:
    """Return the filter of a recording: every open, change of a name, execution and connection."""
    asked = [*_numbers(*OPENS, *CHANGES, *EXECUTIONS), *_find_numbers((*CONNECTIONS, *UNNAMED))]
    return _assemble(asked, {})


def refusing_filter() -> bytes:
    """Return the filter of a replay without namespaces: whatever would change a file."""
    by_flags = {
        NUMBERS[call.name]: call.flags
        for call in OPENS
        if call.name in NUMBERS and call.flags is not None
    }
    rest = [call for call in OPENS if call.flags is None]
    asked = [*_numbers(*rest, *CHANGES, *ATTRIBUTE_CHANGES), *_find_numbers(UNNAMED)]
    return _assemble(asked, by_flags)


def refuse_unseen_calls() -> None:
    """Forbid this process and its children the calls that a recording does without.

    Raises:
        OSError: where the kernel refuses a filter.
    """
    set_no_new_privs()
    code = _assemble([], {})
    held = ctypes.create_string_buffer(code, len(code))
    program = struct.pack("=HxxxxxxQ", len(code) // 8, ctypes.addressof(held))
    wanted = ctypes.create_string_buffer(program, len(program))
    syscall(NUMBERS["seccomp"], _SET_MODE_FILTER, 0, wanted)


def install_filter(code: bytes, *, every_thread: bool = False) -> int:
    """Install a filter in this process and return its listener's descriptor.

    Args:
        code: from one of the functions above.
        every_thread: also in threads that exist already; otherwise in the calling one and what it
            starts from here on.

    Raises:
        OSError: where the kernel refuses; EBUSY, when this process has a listener already.
    """
    set_no_new_privs()
    held = ctypes.create_string_buffer(code, len(code))
    program = struct.pack("=HxxxxxxQ", len(code) // 8, ctypes.addressof(held))
    flags = _NEW_LISTENER | (_ALL_THREADS | _FOREIGN_THREAD_IS_ESRCH if every_thread else 0)
    wanted = ctypes.create_string_buffer(program, len(program))
    for extra in (_WAIT_KILLABLE, 0):  # from Linux 5.19 on: no signal takes a call back half-way
        try:
            return syscall(NUMBERS["seccomp"], _SET_MODE_FILTER, flags | extra, wanted)
        except OSError as error:
            if error.errno != errno.EINVAL or not extra:
                raise
    raise AssertionError("the second attempt returns or raises")


def is_supported() -> bool:
    """Return whether this architecture has filters that twice can write."""
    return bool(ARCHITECTURE) and os.name == "posix"


def _numbers(*calls: object) -> list[int]:
    return _find_numbers(getattr(call, "name", "") for call in calls)


def _find_numbers(names: Iterable[str]) -> list[int]:
    return [NUMBERS[name] for name in names if name in NUMBERS]


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
