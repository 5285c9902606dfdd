"""On whose behalf a file is opened, looked at or changed.

A library that opens a file does it for the program that called it: what it reads is an input of the run, and
what it writes is kept away. Two exceptions: a library that is being imported reads its own set-up, and twice
writes the record.

Invariant: user code between a library and the file makes the file the program's.
"""

from __future__ import annotations

import codecs
import glob
import os
import tempfile
from enum import Enum
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

from twice.recorder.effects.origin import asker_of, files_behind, files_of

if TYPE_CHECKING:
    from twice.recorder.effects.files.filesystem import Files

_HERE = Path(__file__)
WRAPPERS = (
    files_of(os.walk, os.path.exists, os.path.abspath, glob.glob, codecs.open, tempfile.mkstemp)
    | files_behind(Path)
    | {
        str(_HERE.with_name(f"{name}.py"))
        for name in ("opening", "asking", "attributes", "changing", "entries", "temporary")
    }
    | {str(_HERE.parents[1] / "listing.py")}
)
"""Files of Python code that asks on behalf of its caller."""
_IMPORTING = frozenset({"<frozen importlib._bootstrap>", "<frozen importlib._bootstrap_external>"})


class By(Enum):
    """On whose behalf."""

    PROGRAM = "the program's own code"
    LIBRARY = "a library, for the program"
    SETUP = "a library that is being imported"


def asked_by(files: Files, frame: FrameType) -> By | None:
    """Return on whose behalf code asks; None for code outside the run."""
    asker = asker_of(frame, WRAPPERS)
    if files.passes(asker):
        return None
    if files.layer.is_strict(asker):
        return By.PROGRAM
    if not _is_imported(files, frame):
        return By.LIBRARY
    return None if files.overlay is None else By.SETUP


def _is_imported(files: Files, frame: FrameType) -> bool:
    found: FrameType | None = frame
    while found is not None:
        code = found.f_code
        if code.co_filename in _IMPORTING:
            return True
        if files.layer.is_strict(code):
            return False
        found = found.f_back
    return False
