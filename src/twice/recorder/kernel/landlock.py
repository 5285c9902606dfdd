"""Landlock: let this process and its descendants change files in some folders alone, for good.

Denies writing, creating, removing, linking and, from Linux 6.2 on, truncating. Lets changes of permissions,
owners, times and attributes through; the listener refuses those.

Source: landlock(7).

Invariant: a kernel without Landlock leaves the process as it is, and the function says so.
"""

from __future__ import annotations

import ctypes
import os
import struct
from collections.abc import Iterable
from typing import Final

from twice.recorder.kernel.libc import set_no_new_privs, syscall

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446  # the same on every architecture
_VERSION_ASKED = 1
_PATH_BENEATH = 1
_WRITE_FILE, _REMOVE_DIR, _REMOVE_FILE = 1 << 1, 1 << 4, 1 << 5
_MAKE_ANY: Final = sum(1 << bit for bit in range(6, 13))
_REFER, _TRUNCATE = 1 << 13, 1 << 14
_FIRST_WITH_REFER, _FIRST_WITH_TRUNCATE = 2, 3


def restrict_writes(allowed: Iterable[str]) -> bool:
    """Let files be changed below some folders alone, from here on; return whether that was done.

    Args:
        allowed: folders; those that are not there are left out.
    """
    try:
        version = syscall(_CREATE_RULESET, None, 0, _VERSION_ASKED)
    except OSError:
        return False
    rights = _WRITE_FILE | _REMOVE_DIR | _REMOVE_FILE | _MAKE_ANY
    rights |= _REFER if version >= _FIRST_WITH_REFER else 0
    rights |= _TRUNCATE if version >= _FIRST_WITH_TRUNCATE else 0
    handled = ctypes.create_string_buffer(struct.pack("=Q", rights), 8)
    rules = syscall(_CREATE_RULESET, handled, 8, 0)
    try:
        for folder in allowed:
            _allow(rules, folder, rights)
        set_no_new_privs()
        syscall(_RESTRICT_SELF, rules, 0)
    finally:
        os.close(rules)
    return True


def _allow(rules: int, folder: str, rights: int) -> None:
    try:
        descriptor = os.open(folder, getattr(os, "O_PATH", 0) | os.O_CLOEXEC)
    except OSError:
        return
    try:
        rule = ctypes.create_string_buffer(struct.pack("=Qi", rights, descriptor), 12)
        syscall(_ADD_RULE, rules, _PATH_BENEATH, rule, 0)
    finally:
        os.close(descriptor)
