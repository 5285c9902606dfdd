"""Which file a path means, and whether it is one that a run reads as an input.

Two paths to one file are one place: folders are followed through links, the last part is not.
Not inputs: what belongs to the interpreter, to installed packages and to twice (the environment's
fingerprint stands for those), compiled Python, and what is no file on a disk (``/proc``, ``/sys``,
``/dev``).

Not for: whether a file is there.

Invariant: a place is an absolute path, and never one inside of the overlay.
"""

from __future__ import annotations

import os
import posixpath
import sys
from typing import Any

from twice.recorder.effects.filenames import kept, told
from twice.recorder.kernel.paths import follow_links
from twice.recorder.path_names import PathNames
from twice.recorder.user_code import is_user_file

_readlink, _getcwd = os.readlink, os.getcwd
_NO_FILES = ("/proc/", "/sys/", "/dev/")
_SHARED_MEMORY = "/dev/shm/"  # noqa: S108  (a folder for files like another)
_OF_PYTHON = tuple(
    os.path.realpath(prefix) + os.sep + "share" + os.sep for prefix in (sys.prefix, sys.base_prefix)
)
_REMOVED = " (deleted)"  # as Linux shows it
_DRAWN_CHARACTERS = 8


class Places:
    """Paths of one session.

    Args:
        placing: names paths as the record keeps them.
        upper: folder of the overlay, or "" without one.

    Attributes:
        drawn_parts: parts of names that were drawn at random, and the key that a record shows for each.
    """

    def __init__(self, placing: PathNames, upper: str = "") -> None:
        self._placing = placing
        self._upper = upper
        self.drawn_parts: dict[str, str] = {}
        self._inputs: dict[str, bool] = {}

    def drawn(self, part: str, key: str) -> None:
        """Register a randomly drawn part of a name: from here on, places show its key instead."""
        self.drawn_parts[part] = "{" + key.replace("/", " ") + "}"

    def named(self, place: str) -> str:
        """Return the name of a place in the record."""
        name = kept(self._placing.to_recorded(place))
        if self.drawn_parts:
            for at in range(len(name) - _DRAWN_CHARACTERS, 0, -1):
                key = self.drawn_parts.get(name[at : at + _DRAWN_CHARACTERS])
                if key is not None:
                    name = name[:at] + key + name[at + _DRAWN_CHARACTERS :]
        return name

    def found(self, name: str) -> str:
        """Return the place that a recorded name means here."""
        if "{" in name:
            for part, key in self.drawn_parts.items():
                name = name.replace(key, part)
        return told(self._placing.to_local(name))

    def of(self, path: Any, folder: int | None = None) -> str | None:
        """Return the place that a path means; None for a descriptor or a value that is not a path.

        Args:
            path: as the program gave it.
            folder: descriptor of the folder that a relative path begins in, or None.
        """
        try:
            text = os.fsdecode(path)
        except TypeError:
            return None
        if "\0" in text or not text:
            return None
        if not text.startswith("/"):
            start = self.logical(_getcwd()) if folder is None else self.of_descriptor(folder)
            if start is None:
                return None
            text = f"{start}/{text}"
        head, tail = posixpath.split(posixpath.normpath(text) if ".." not in text else text)
        if tail in {"..", "."} or text.endswith(("/..", "/.")):
            return self.logical(real_path(text))
        return self.logical(posixpath.join(real_path(head), tail))

    def of_descriptor(self, descriptor: int) -> str | None:
        """Return the place that an open descriptor leads to; None where the system does not say."""
        try:
            return self.logical(_readlink(f"/proc/self/fd/{descriptor}"))
        except OSError:
            return None

    def of_open(self, descriptor: int) -> str | None:
        """Return the place of an open descriptor; None for a pipe or a removed file."""
        place = self.of_descriptor(descriptor)
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
            known = self._inputs[folder] = _is_input(folder + "/")
        return known and not place.endswith((".pyc", ".pyo"))


def _is_input(folder: str) -> bool:
    if folder.startswith(_NO_FILES) and not folder.startswith(_SHARED_MEMORY):
        return False
    return is_user_file(folder + "x") and not folder.startswith(_OF_PYTHON)


def real_path(path: str) -> str:
    """Resolve a path like ``os.path.realpath``, with functions that nobody replaced."""
    return follow_links(path)[0]
