"""Whose an operation is, and on which line of the tool's it was made.

Innocent is what nobody's result depends on: the runtime's own work, a module while it is imported,
the time in a log line, whoever listens to the garbage collector, and whatever the backend does in its own methods, which is its business.

Invariant: a place never names more of this machine than a path below the current folder, or a file
and the folder that it lies in.
"""

from __future__ import annotations

import gc
import logging
import os
from pathlib import Path
from types import FrameType

from twice.foundation.source_files import is_user_file

_TOOLING = str(Path(__file__).parents[1]) + os.sep
_ADAPTERS = str(Path(__file__).parents[1] / "adapters") + os.sep
_LOGGING = logging.__file__
_STANDARD = str(Path(os.__file__).parent) + os.sep
_PACKAGE = str(Path(__file__).parents[2]) + os.sep


def place_of(frame: FrameType | None, backend: object) -> str | None:
    """Return the line to blame for an operation under a frame; None if nothing is to blame."""
    users, others = "", ""
    collecting = {id(code) for each in gc.callbacks if (code := getattr(each, "__code__", None))}
    while frame is not None:
        name = frame.f_code.co_filename
        if id(frame.f_code) in collecting:
            return None
        if backend is not None and frame.f_locals.get("self") is backend:
            return None
        if not users:
            if name.startswith("<frozen importlib") or name == _LOGGING or _is_runtime(name):
                return None
            if is_user_file(name) or name.startswith(_ADAPTERS):
                users = f"{shown_file(name)}:{frame.f_lineno}"
            elif not others and not _is_carrier(name):
                others = f"{shown_file(name)}:{frame.f_lineno}"
        if _called_by_runtime(frame):
            break
        frame = frame.f_back
    return users or others


def shown_file(name: str) -> str:
    """Shorten a file's path for display."""
    path = Path(name)
    try:
        return path.relative_to(Path.cwd()).as_posix()
    except (ValueError, OSError):
        return "/".join(path.parts[-2:])


_INSTALLED = f"{os.sep}site-packages{os.sep}"


def _is_carrier(name: str) -> bool:
    """Whether a file is Python's own or twice's: what runs there runs for somebody else."""
    return name.startswith(("<", _PACKAGE)) or (
        name.startswith(_STANDARD) and _INSTALLED not in name
    )


def _is_runtime(name: str) -> bool:
    return name.startswith(_TOOLING) and not name.startswith(_ADAPTERS)


def _called_by_runtime(frame: FrameType) -> bool:
    """Whether a frame is the tool's outermost: what lies further out is not of the tool."""
    back = frame.f_back
    return back is not None and _is_runtime(back.f_code.co_filename)
