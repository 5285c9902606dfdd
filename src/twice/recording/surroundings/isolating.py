"""Another host name, and addresses that do not change from process to process: Linux alone.

Both are asked of the kernel for this process only; where it says no, the caller is told.

Invariant: the machine's own name is never changed, and a process that is refused stays as it was.
"""

from __future__ import annotations

import ctypes
import errno
import os
import sys
from pathlib import Path
from typing import Final

_NEW_USER: Final = 0x10000000  # linux/sched.h: CLONE_NEWUSER
_NEW_UTS: Final = 0x04000000  # linux/sched.h: CLONE_NEWUTS
_ASK: Final = 0xFFFFFFFF
_NO_RANDOMIZE: Final = 0x0040000  # linux/personality.h: ADDR_NO_RANDOMIZE


def rename_host(name: str) -> None:
    """Give this process a host name of its own.

    Raises:
        OSError: the kernel does not allow it. AttributeError: it is another kernel.
    """
    library = ctypes.CDLL(None, use_errno=True)
    if library.unshare(_NEW_UTS) != 0:
        _try_in_child(library)
        _enter_as_self(library)
    text = name.encode()
    _succeeded(library.sethostname(text, len(text)))


def _enter_as_self(library: ctypes.CDLL) -> None:
    """Enter a user namespace in which the program keeps seeing itself as who it is."""
    user, group = os.geteuid(), os.getegid()
    _succeeded(library.unshare(_NEW_USER | _NEW_UTS))
    Path("/proc/self/setgroups").write_text("deny", encoding="ascii")
    Path("/proc/self/uid_map").write_text(f"{user} {user} 1", encoding="ascii")
    Path("/proc/self/gid_map").write_text(f"{group} {group} 1", encoding="ascii")


def _try_in_child(library: ctypes.CDLL) -> None:
    """Enter in a process that ends at once: one that is entered and not mapped is nobody, and stays so.

    Raises:
        OSError: the kernel refuses the namespace, or the maps.
    """
    child = os.fork()
    if child == 0:
        code = 0
        try:
            _enter_as_self(library)
        except OSError as error:
            code = error.errno or errno.EPERM
        os._exit(code)
    refused = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if refused:
        raise OSError(refused, os.strerror(refused))


def fix_addresses() -> None:
    """Begin this process anew, without random addresses; nothing, where it has none already.

    Raises:
        OSError: the kernel does not allow it. AttributeError: it is another kernel.
    """
    library = ctypes.CDLL(None, use_errno=True)
    now = library.personality(_ASK)
    if now & _NO_RANDOMIZE:
        return
    if library.personality(now | _NO_RANDOMIZE) < 0:
        _succeeded(-1)
    os.execv(sys.executable, sys.orig_argv)  # noqa: S606  (the very process that was asked for)


def addresses_read() -> str:
    """``fixed`` or ``random``; empty where that cannot be told."""
    if not sys.platform.startswith("linux"):
        return ""
    try:
        switch = Path("/proc/sys/kernel/randomize_va_space").read_text(encoding="ascii").strip()
    except OSError:
        switch = ""
    asked = ctypes.CDLL(None).personality(_ASK) & _NO_RANDOMIZE
    return "fixed" if asked or switch == "0" else "random"


def _succeeded(code: int) -> None:
    if code != 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))
