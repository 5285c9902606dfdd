"""Where a replay writes: a private folder that stands over the real files.

What the program makes, changes or removes in a replay happens in this folder, under the same path;
the real place is only ever read. A path that the program did not touch leads to the real file.

Not for: what a file that was not touched should hold; ``filesystem`` asks the record.

Invariant: nothing outside of the folder is made, changed or removed through it.
"""

from __future__ import annotations

import os
import posixpath
import shutil
from collections.abc import Iterable
from typing import Protocol

from twice.recorder.effects.actors import outside

_rename, _makedirs, _listdir, _unlink = os.replace, os.makedirs, os.listdir, os.unlink
_open, _close, _truncate = os.open, os.close, os.truncate
_FILE, _FOLDER, _GONE = "file", "folder", "gone"


class WritableTree(Protocol):
    """Where an execution that records nothing makes, changes and removes files."""

    upper: str
    kept: str

    def at(self, place: str) -> str:
        """Return the path that a place leads to now."""
        ...

    def holds(self, place: str) -> bool:
        """Return whether this file may be changed at the path that it leads to."""
        ...

    def make_file(self, place: str) -> str:
        """Return a path to write this place's file at; its folder is there."""
        ...

    def make_beginning(self, place: str, size: int) -> bool:
        """Let a file that is only added to have its recorded size; return whether it is a hole."""
        ...

    def make_folder(self, place: str) -> str:
        """Make an empty folder; return its path."""
        ...

    def remove(self, place: str) -> None:
        """Remove a place, with everything below it."""
        ...

    def move(self, source: str, target: str) -> None:
        """Rename a file or folder."""
        ...

    def fill(self, place: str, content: str) -> str:
        """Copy a file to a place; return its path."""
        ...

    def names(self, place: str, real: Iterable[str]) -> list[str]:
        """Return the names in a folder, of which ``real`` are those at its path."""
        ...


class Overlay:
    """A folder over the real files.

    Args:
        folder: private to this session; made here, for nobody else to look into.
    """

    def __init__(self, folder: str) -> None:
        _makedirs(folder, mode=0o700, exist_ok=True)
        self.upper = f"{folder}/files"
        self.kept = f"{folder}/kept"
        self._state: dict[str, str] = {}

    def at(self, place: str) -> str:
        """Return the path that a place leads to now."""
        if not self._state:
            return place
        return self.upper + place if self.holds(place) else place

    def holds(self, place: str) -> bool:
        """Return whether the run made, changed or removed this file, or a folder that it is in."""
        here = place
        while True:
            state = self._state.get(here)
            if state is not None:
                return True
            above = posixpath.dirname(here)
            if above == here:
                return False
            here = above

    def make_file(self, place: str) -> str:
        """Make the folder of a place, and return the path to write its file at."""
        self._make_parents(place)
        self._state[place] = _FILE
        return self.upper + place

    def make_beginning(self, place: str, size: int) -> bool:
        """Let a file that is only added to begin as a hole of its recorded size; return whether it does."""
        if self.holds(place):
            return False
        path = self.make_file(place)
        _close(_open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600))
        _truncate(path, size)
        return True

    def make_folder(self, place: str) -> str:
        """Make an empty folder in the overlay; nothing of a real one shows through."""
        _makedirs(self.upper + place, exist_ok=True)
        self._forget_below(place)
        self._state[place] = _FOLDER
        return self.upper + place

    def remove(self, place: str) -> None:
        """Let a place be gone, with everything below it."""
        at = self.upper + place
        if os.path.isdir(at) and not os.path.islink(at):  # noqa: PTH112, PTH114
            outside(shutil.rmtree, at, ignore_errors=True)
        elif os.path.lexists(at):
            _unlink(at)
        self._forget_below(place)
        self._state[place] = _GONE

    def move(self, source: str, target: str) -> None:
        """Move the overlay's files from one place to another."""
        below = {
            target + place[len(source) :]: state
            for place, state in self._state.items()
            if place == source or place.startswith(source + "/")
        }
        self.remove(target)
        self._make_parents(target)
        if os.path.lexists(self.upper + source):
            _rename(self.upper + source, self.upper + target)
        self.remove(source)
        self._state.update(below)

    def fill(self, place: str, content: str) -> str:
        """Copy a file to a place."""
        at = self.make_file(place)
        outside(shutil.copyfile, content, at)
        return at

    def names(self, place: str, real: Iterable[str]) -> list[str]:
        """Return the names in a folder: real ones that are not hidden, and those of the overlay."""
        own: list[str] = []
        if os.path.isdir(self.upper + place):  # noqa: PTH112
            own = sorted(
                name
                for name in _listdir(self.upper + place)
                if self.holds(posixpath.join(place, name))
            )
        if self.holds(place):
            return own
        shown = [name for name in real if not self.holds(posixpath.join(place, name))]
        return shown + own

    def _make_parents(self, place: str) -> None:
        parent = posixpath.dirname(place)
        _makedirs(self.upper + parent, exist_ok=True)
        while self._state.get(parent) == _GONE:
            self._state[parent] = _FOLDER
            parent = posixpath.dirname(parent)

    def _forget_below(self, place: str) -> None:
        for one in [one for one in self._state if one.startswith(place + "/")]:
            del self._state[one]
