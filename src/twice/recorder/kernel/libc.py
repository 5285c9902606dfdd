"""The C library's calls that Python does not have: namespaces, mounts, capabilities and raw system calls.

Every failure is an ``OSError`` with the kernel's error number. Importing the module touches nothing, on any
system; on a system without a call, the call is ``ENOSYS``.

Not for: deciding when one of them is right (``namespaces``, ``world``, ``kept_program``).

Invariant: no call here changes a file's content.
"""

from __future__ import annotations

import ctypes
import errno
import functools
import os
import signal
import struct
import sys
from typing import Final

from twice.recorder.kernel.system_calls import NUMBERS

# The real ones: bound before anything is patched.
_getppid, _exit = os.getppid, os._exit

CLONE_NEWNS: Final = 0x00020000
CLONE_NEWUSER: Final = 0x10000000
CLONE_NEWPID: Final = 0x20000000
CLONE_NEWNET: Final = 0x40000000

MS_RDONLY: Final = 1
MS_NOSUID: Final = 2
MS_NODEV: Final = 4
MS_NOEXEC: Final = 8
MS_REMOUNT: Final = 32
MS_NOSYMFOLLOW: Final = 256
MS_BIND: Final = 4096
MS_REC: Final = 16384
MS_PRIVATE: Final = 1 << 18

CAP_SYS_ADMIN: Final = 21

_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER, _PR_SET_NO_NEW_PRIVS = 1, 36, 38
_CAPABILITY_VERSION_3 = 0x20080522


@functools.cache
def library() -> ctypes.CDLL:
    """Return the C library of this process, set up to report error numbers."""
    return ctypes.CDLL(None, use_errno=True)


def syscall(number: int, *arguments: object) -> int:
    """Make a system call by its number here; arguments are whole numbers, bytes, None or ctypes values."""
    call = library().syscall
    call.restype = ctypes.c_long
    words = [ctypes.c_long(word) if isinstance(word, int) else word for word in arguments]
    return _raise_on_error(call(ctypes.c_long(number), *words), "syscall")


def unshare(flags: int) -> None:
    """Move this process into namespaces of its own, all of them or none."""
    if hasattr(os, "unshare"):  # Python 3.12 and newer
        os.unshare(flags)
    else:
        _call("unshare", ctypes.c_int(flags))


def mount(
    source: str | None, target: str, kind: str | None = None, flags: int = 0, options: str = ""
) -> None:
    """Mount a file system, or change how one is mounted."""
    texts = [None if text is None else os.fsencode(text) for text in (source, target, kind)]
    data = os.fsencode(options) if options else None
    _call("mount", *texts, ctypes.c_ulong(flags), data, name=target)


def set_no_new_privs() -> None:
    """Renounce the rights that ``exec`` of a file would grant, for this process and its children."""
    _prctl(_PR_SET_NO_NEW_PRIVS, 1)


def end_with_parent(parent: int) -> None:
    """Have the kernel kill this process when the one that forked it ends.

    ``parent`` is 0 in a process that does not see it, which has to ask in another way whether it had ended before.
    """
    _prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL))
    if _getppid() != parent:
        _exit(1)  # it ended in between, and nobody waits for this process


def adopt_orphans() -> None:
    """Let descendants whose parents end become this process's children."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def has_capability(number: int) -> bool:
    """Return whether a capability is in force for this process, in its own user namespace."""
    if not sys.platform.startswith("linux"):
        return False
    header, sets = _capability_header(), ctypes.create_string_buffer(24)
    try:
        _call_by_name("capget", header, sets)
    except OSError:
        return False
    effective = struct.unpack("=6I", sets.raw)[0::3]
    return bool(effective[number // 32] >> number % 32 & 1)


def drop_capabilities() -> None:
    """Drop every capability of this process, so that it may only do what its user may."""
    _call_by_name("capset", _capability_header(), ctypes.create_string_buffer(24))


def _capability_header() -> ctypes.Array[ctypes.c_char]:
    return ctypes.create_string_buffer(struct.pack("=Ii", _CAPABILITY_VERSION_3, 0), 8)


def _call_by_name(name: str, *arguments: object) -> int:
    if name not in NUMBERS:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS), name)
    return syscall(NUMBERS[name], *arguments)


def _prctl(option: int, value: int) -> None:
    zero = ctypes.c_ulong(0)
    _call("prctl", ctypes.c_int(option), ctypes.c_ulong(value), zero, zero, zero)


def _call(function: str, *arguments: object, name: str | None = None) -> int:
    try:
        call = getattr(library(), function)
    except AttributeError:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS), name or function) from None
    return _raise_on_error(call(*arguments), name or function)


def _raise_on_error(result: int, name: str) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), name)
    return result
