"""Whose an operation is, and at which line of the user's code it was made.

Walks the stack outwards. Code of the effects layer and of the record makes its operations for the
session: they are recorded already, or none of the program's. Importing is a wall: what the standard
library does while it is being imported is its own.

Invariant: a place names the user's code, never the code of a library.
"""

from __future__ import annotations

import os
from pathlib import Path
from sys import _getframe
from types import FrameType
from typing import Literal

from twice.recorder import program

Whose = Literal["session", "user", "package", "library"]

_PACKAGE = str(Path(program.__file__).parents[1]) + os.sep
_INSTALLED = f"{os.sep}site-packages{os.sep}"
_IMPORTING = "<frozen importlib"
# Files of ours that only carry the program's code: what runs under them is the program's.
_CARRYING = tuple(
    _PACKAGE + name.replace("/", os.sep)
    for name in (
        "recorder/effects/actors.py",
        "recorder/effects/environment.py",
        "recorder/effects/files/opening.py",
        "recorder/effects/lineage.py",
        "recorder/effects/network/listening.py",
        "recorder/effects/spawning.py",
        "recorder/effects/sqlite.py",
        "recorder/executing.py",
        "recorder/imports.py",
        "recorder/interrupts.py",
        "recorder/session.py",
        "recorder/program.py",
        "recorder/run.py",
        "recorder/audit/",
        "recorder/compare_points.py",
        "diagnosis/tracing/",
    )
)
Kind = Literal["user", "package", "session", "carrier", "import", "library"]
_kinds: dict[str, Kind] = {}


def whose(frame: FrameType | None) -> tuple[Whose, str]:
    """Return who makes the operation under a frame, and the first line of the user's code above it.

    Returns:
        ``session``, ``user``, ``package`` or ``library``, by the first code that is not the standard
        library's; and ``file:line``, or an empty text when no code of the user's stands there.
    """
    found: Whose | None = None
    while frame is not None:
        kind = _kind(frame.f_code.co_filename)
        if kind == "user":
            return found or "user", f"{frame.f_code.co_filename}:{frame.f_lineno}"
        if found is None:
            if kind == "session":
                return "session", ""
            if kind == "package":
                found = "package"
            elif kind == "import":
                found = "library"
        frame = frame.f_back
    return found or "library", ""


def is_users(frame: FrameType) -> bool:
    """Return whether a frame is the user's own code, so that C code acts for the user directly."""
    return _kind(frame.f_code.co_filename) == "user"


def user_line() -> str:
    """Return the line of the user's code that this thread runs, or an empty text if it runs none."""
    frame: FrameType | None = _getframe(1)
    while frame is not None:
        if _kind(frame.f_code.co_filename) == "user":
            return f"{frame.f_code.co_filename}:{frame.f_lineno}"
        frame = frame.f_back
    return ""


def _kind(filename: str) -> Kind:
    kind = _kinds.get(filename)
    if kind is None:
        kind = _kinds[filename] = _kind_of(filename)
    return kind


def _kind_of(filename: str) -> Kind:
    if filename.startswith(_IMPORTING):
        return "import"
    if program.is_ours(filename):
        return "carrier" if filename.startswith(_CARRYING) else "session"
    if program.is_user_file(filename):
        return "user"
    return "package" if _INSTALLED in filename else "library"
