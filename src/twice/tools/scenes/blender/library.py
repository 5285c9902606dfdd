"""Blender's own module, imported when a Blender scene is made and not before.

Blender is free software under the GPL: it is an extra, and runs in the process of a tool session,
never in that of a server. One process, one thread, one request at a time: others crash it.

Invariant: without the extra there is one error, and it names the extra.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from twice.errors import ExtraMissing

VERSIONS: Final = ((4, 5),)
"""The versions whose properties have been looked at, one by one."""


def blender() -> Any:
    """Import the module ``bpy``.

    Raises:
        ExtraMissing: E-EXTRA-001, it is not installed, or its version is unknown.
    """
    try:
        bpy = importlib.import_module("bpy")
    except ImportError as error:
        raise _missing("Blender is asked for and its module bpy is not installed.") from error
    if tuple(bpy.app.version[:2]) not in VERSIONS:
        raise _missing(f"Blender {bpy.app.version_string} is installed.")
    return bpy


@contextmanager
def printing_aside() -> Iterator[None]:
    """While Blender works, let what its C code prints go to standard error.

    It prints times and folders, which differ from run to run; a run compares its standard output.
    """
    sys.stdout.flush()
    kept = os.dup(1)
    os.dup2(2, 1)
    try:
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)


def _missing(happened: str) -> ExtraMissing:
    return ExtraMissing(
        happened,
        "Expected Blender 4.5 as a module; it is made for Python 3.11 alone.",
        "Install it there: pip install 'twice[blender]'",
    )
