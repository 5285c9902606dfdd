"""Addresses that do not change from process to process: Linux alone.

They are asked of the kernel for this process only; where it says no, the caller is told.

Invariant: a process that is refused stays as it was.
"""

from __future__ import annotations

import ctypes
import os
import sys
from pathlib import Path
from typing import Final

_ASK: Final = 0xFFFFFFFF
_NO_RANDOMIZE: Final = 0x0040000  # linux/personality.h: ADDR_NO_RANDOMIZE


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
    """Return ``fixed`` or ``random``; empty where the system does not say."""
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
