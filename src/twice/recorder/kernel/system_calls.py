"""The system calls that name files, processes or connections, and where their arguments stand.

Numbers are those of the machine this runs on; a call that an architecture lacks is left out.

Invariant: a call listed here is intercepted; what a descriptor is used for afterwards is not.
"""

from __future__ import annotations

import os
import platform
from typing import Final, NamedTuple

_X86_64: Final = {
    "open": 2, "connect": 42, "execve": 59, "truncate": 76, "rename": 82, "mkdir": 83, "rmdir": 84,
    "creat": 85, "link": 86, "unlink": 87, "symlink": 88, "chmod": 90, "chown": 92, "lchown": 94,
    "utime": 132, "mknod": 133, "pivot_root": 155, "chroot": 161, "mount": 165, "setxattr": 188,
    "lsetxattr": 189, "removexattr": 197, "lremovexattr": 198, "utimes": 235, "openat": 257,
    "mkdirat": 258, "mknodat": 259, "fchownat": 260, "futimesat": 261, "unlinkat": 263,
    "renameat": 264, "linkat": 265, "symlinkat": 266, "fchmodat": 268, "utimensat": 280,
    "open_by_handle_at": 304, "renameat2": 316, "seccomp": 317, "execveat": 322,
    "io_uring_setup": 425, "openat2": 437, "pidfd_getfd": 438, "fchmodat2": 452,
    "capget": 125, "capset": 126,
    # Waits
    "read": 0, "poll": 7, "select": 23, "pause": 34, "accept": 43, "recvfrom": 45, "recvmsg": 47, "wait4": 61,
    "flock": 73, "rt_sigtimedwait": 128, "rt_sigsuspend": 130, "futex": 202, "epoll_wait": 232,
    "waitid": 247, "pselect6": 270, "ppoll": 271, "epoll_pwait": 281, "accept4": 288,
}  # fmt: skip
_AARCH64: Final = {
    "setxattr": 5, "lsetxattr": 6, "removexattr": 14, "lremovexattr": 15, "mknodat": 33,
    "mkdirat": 34, "unlinkat": 35, "symlinkat": 36, "linkat": 37, "renameat": 38, "mount": 40,
    "pivot_root": 41, "truncate": 45, "chroot": 51, "fchmodat": 53, "fchownat": 54, "openat": 56,
    "utimensat": 88, "connect": 203, "execve": 221, "open_by_handle_at": 265, "renameat2": 276,
    "seccomp": 277, "execveat": 281, "io_uring_setup": 425, "openat2": 437, "pidfd_getfd": 438,
    "fchmodat2": 452, "capget": 90, "capset": 91,
    # Waits
    "epoll_pwait": 22, "flock": 32, "read": 63, "pselect6": 72, "ppoll": 73, "waitid": 95, "futex": 98,
    "rt_sigsuspend": 133, "rt_sigtimedwait": 137, "accept": 202, "recvfrom": 207, "recvmsg": 212,
    "accept4": 242, "wait4": 260,
}  # fmt: skip
_MACHINES: Final = {"x86_64": (0xC000003E, _X86_64), "aarch64": (0xC00000B7, _AARCH64)}
ARCHITECTURE, NUMBERS = _MACHINES.get(platform.machine(), (0, {}))
"""The kernel's word for this architecture, 0 where it is not supported; numbers by name, of calls that are
intercepted, that are made, or in which a program may wait for ever."""


class PathCall(NamedTuple):
    """A system call that takes a path, with positions of its arguments.

    ``path`` and ``second_path`` are pointers, ``folder`` and ``second_folder`` the descriptors that relative ones
    start from; None for the working folder. ``flags`` are those of an open; None where there are none in a register.
    """

    name: str
    path: int
    folder: int | None = None
    flags: int | None = None
    second_path: int | None = None
    second_folder: int | None = None


OPENS: Final = (
    PathCall("open", 0, flags=1),
    PathCall("openat", 1, 0, flags=2),
    PathCall("openat2", 1, 0),
    PathCall("creat", 0),
)
EXECUTIONS: Final = (PathCall("execve", 0), PathCall("execveat", 1, 0))
CHANGES: Final = (
    PathCall("truncate", 0),
    PathCall("mkdir", 0),
    PathCall("mkdirat", 1, 0),
    PathCall("rmdir", 0),
    PathCall("unlink", 0),
    PathCall("unlinkat", 1, 0),
    PathCall("rename", 0, second_path=1),
    PathCall("renameat", 1, 0, second_path=3, second_folder=2),
    PathCall("renameat2", 1, 0, second_path=3, second_folder=2),
    PathCall("link", 0, second_path=1),
    PathCall("linkat", 1, 0, second_path=3, second_folder=2),
    PathCall("symlink", 1),
    PathCall("symlinkat", 2, 1),
    PathCall("mknod", 0),
    PathCall("mknodat", 1, 0),
)
"""Calls that make, change or remove a file."""
ATTRIBUTE_CHANGES: Final = (
    *(PathCall(name, 0) for name in (
        "chmod", "chown", "lchown", "utime", "utimes", "setxattr", "lsetxattr", "removexattr", "lremovexattr",
    )),
    *(PathCall(name, 1, 0) for name in ("fchmodat", "fchmodat2", "fchownat", "futimesat", "utimensat")),
)  # fmt: skip
"""Calls that change permissions, owners, times and attributes: a replay refuses them where it must."""
UNNAMED: Final = ("open_by_handle_at", "chroot", "pivot_root", "mount")
"""Calls after which the files that a process means cannot be told from its paths."""
CONNECTIONS: Final = ("connect",)
"""Calls that reach another process, perhaps on another machine."""
_NAMELESS = getattr(os, "O_TMPFILE", 0) & ~os.O_DIRECTORY
WRITE_FLAGS: Final = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | _NAMELESS


def path_calls(*groups: tuple[PathCall, ...]) -> dict[int, PathCall]:
    """Return the calls of some groups that this architecture has, by number."""
    return {NUMBERS[call.name]: call for group in groups for call in group if call.name in NUMBERS}
