"""Which file a path means, whether it is an input of the run, and on whose behalf code asks for it.

Two paths to one file are one place: folders are followed through links, the last part is not. Not inputs: what belongs
to the interpreter, to installed packages and to twice (the environment's fingerprint stands for those), compiled
Python, and what is no file on a disk (``/proc``, ``/sys``, ``/dev``).

A library that opens a file does it for the program that called it: what it reads is an input of the run, and what it
writes is kept away. Two exceptions: a library that is being imported reads its own set-up, and twice writes the
record.

Invariant: a place is an absolute path, and never one inside of the overlay.
"""

from __future__ import annotations

import codecs
import glob
import os
import posixpath
import sys
import tempfile
from enum import Enum
from pathlib import Path
from types import FrameType
from typing import Any

from twice.foundation.source_files import is_user_file
from twice.recorder.effects.actors import files_behind, files_of
from twice.recorder.effects.files.overlay import Overlay
from twice.recorder.effects.layer import EffectLayer
from twice.recorder.kernel.paths import escape_path, follow_links, is_device, unescape_path
from twice.recorder.program import PathNames

_readlink, _getcwd = os.readlink, os.getcwd
_OF_PYTHON = tuple(
    os.path.realpath(prefix) + os.sep + "share" + os.sep for prefix in (sys.prefix, sys.base_prefix)
)
_REMOVED = " (deleted)"  # as Linux shows it
_DRAWN_CHARACTERS = 8

_HERE = Path(__file__)
WRAPPERS = (
    files_of(os.walk, os.path.exists, os.path.abspath, glob.glob, codecs.open, tempfile.mkstemp)
    | files_behind(Path)
    | {
        str(_HERE.with_name(f"{name}.py"))
        for name in ("open_functions", "functions", "temporary_names")
    }
    | {str(_HERE.parents[1] / "listing.py")}
)
"""Files of Python code that asks on behalf of its caller."""
_IMPORTING = frozenset({"<frozen importlib._bootstrap>", "<frozen importlib._bootstrap_external>"})


class Caller(Enum):
    """On whose behalf a file is opened, looked at or changed."""

    PROGRAM = "the program's own code"
    LIBRARY = "a library, for the program"
    SETUP = "a library that is being imported"


def is_imported(frame: FrameType | None, layer: EffectLayer) -> bool:
    """Return whether code runs because a library is imported, with no code of the program between."""
    while frame is not None:
        code = frame.f_code
        if code.co_filename in _IMPORTING:
            return True
        if layer.is_strict(code):
            return False
        frame = frame.f_back
    return False


class Places:
    """Paths of one session, and their names as the record keeps them.

    ``drawn_parts`` are parts of names that were drawn at random, with the key that a record shows for each.
    """

    def __init__(self, placing: PathNames, overlay: Overlay | None = None) -> None:
        self._placing = placing
        self._upper = "" if overlay is None else overlay.upper
        self.follow = (lambda path: follow_links(path)[0]) if overlay is None else overlay.follow
        """Returns the place that an absolute path leads to through links, its last part too."""
        self.drawn_parts: dict[str, str] = {}
        self._inputs: dict[str, bool] = {}

    def add_drawn(self, part: str, key: str) -> None:
        """Register a randomly drawn part of a name: from here on, places show its key instead."""
        self.drawn_parts[part] = "{" + key.replace("/", " ") + "}"

    def to_recorded(self, place: str) -> str:
        """Return the name of a place in the record."""
        name = escape_path(self._placing.to_recorded(place))
        if self.drawn_parts:
            for at in range(len(name) - _DRAWN_CHARACTERS, 0, -1):
                key = self.drawn_parts.get(name[at : at + _DRAWN_CHARACTERS])
                if key is not None:
                    name = name[:at] + key + name[at + _DRAWN_CHARACTERS :]
        return name

    def to_local(self, name: str) -> str:
        """Return the place that a recorded name means here."""
        if "{" in name:
            for part, key in self.drawn_parts.items():
                name = name.replace(key, part)
        return unescape_path(self._placing.to_local(name))

    def of(self, path: Any, folder: int | None = None) -> str | None:
        """Return the place that a path means; None for a descriptor or a value that is not a path.

        A relative path begins in the folder of a descriptor, or in the working folder.
        """
        try:
            text = os.fsdecode(path)
        except TypeError:
            return None
        if "\0" in text or not text:
            return None
        if not text.startswith("/"):
            start = self.logical(_getcwd()) if folder is None else self._of_descriptor(folder)
            if start is None:
                return None
            text = f"{start}/{text}"
        head, tail = posixpath.split(posixpath.normpath(text) if ".." not in text else text)
        if tail in {"..", "."} or text.endswith(("/..", "/.")):
            return self.logical(self.follow(text))
        return self.logical(posixpath.join(self.follow(head), tail))

    def _of_descriptor(self, descriptor: int) -> str | None:
        """Return the place that an open descriptor leads to; None where the system does not say."""
        try:
            return self.logical(_readlink(f"/proc/self/fd/{descriptor}"))
        except OSError:
            return None

    def of_open(self, descriptor: int) -> str | None:
        """Return the place of an open descriptor; None for a pipe or a removed file."""
        place = self._of_descriptor(descriptor)
        has_name = place is not None and place.startswith("/") and not place.endswith(_REMOVED)
        return place if has_name else None

    def logical(self, path: str) -> str:
        """Map a path into the overlay to its place; return any other path as it is."""
        upper = self._upper
        if upper and path.startswith(upper) and path[len(upper) : len(upper) + 1] in {"/", ""}:
            return path[len(upper) :] or "/"
        return path

    def is_input(self, place: str) -> bool:
        """Return whether this file's content is an input of the run, and writing it an effect."""
        folder = posixpath.dirname(place)
        known = self._inputs.get(folder)
        if known is None:
            whole = folder + "/"
            is_users = not is_device(whole) and is_user_file(whole + "x")
            known = self._inputs[folder] = is_users and not whole.startswith(_OF_PYTHON)
        return known and not place.endswith((".pyc", ".pyo"))
