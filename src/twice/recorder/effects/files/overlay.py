"""Where an execution that records nothing writes: a private folder over the real files, or a world's copies of them.

What the program makes, changes or removes in a replay happens in the folder, under the same path; the real place is
only ever read. A path that the program did not touch leads to the real file. A change that a replay knows from the
record is let happen; for whoever asks no record (a branch that left it, a library on a path of its own), the overlay
answers as the world would, with the same errors.

Not for: what a file that was not touched should hold, which ``contents`` asks the record; rights and times of files
that the run did not write, which stay as they are.

Invariant: nothing outside of the folder is made, changed or removed through it, by a link either.
"""

from __future__ import annotations

import errno
import os
import posixpath
import shutil
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from twice.recorder.effects.actors import outside
from twice.recorder.kernel.paths import (
    follow_links,
    is_link,
    is_present,
    leads_to_file,
    leads_to_folder,
)

_rename, _listdir, _unlink = os.replace, os.listdir, os.unlink
_open, _close, _truncate, _rmdir, _stat = os.open, os.close, os.truncate, os.rmdir, os.stat
_symlink, _readlink = os.symlink, os.readlink
_MAKES = frozenset({"mkdir", "mkfifo", "mknod", "symlink"})


class Overlay:
    """A folder over the real files, private to this session; made here, for nobody else to look into.

    ``upper`` is the folder with the changed files, by their whole paths, and empty in a world; ``kept`` is for
    contents that the record carries.
    """

    def __init__(self, folder: str) -> None:
        outside(os.makedirs, folder, mode=0o700, exist_ok=True)
        self.upper, self.kept = f"{folder}/files", f"{folder}/kept"
        self._is_there: dict[str, bool] = {}
        """Places that the run made or changed, which are there, or removed, which are not."""

    # -- where a place is -----------------------------------------------------------------------

    def at(self, place: str) -> str:
        """Return the path that a place leads to now."""
        return self.upper + place if self._is_there and self.holds(place) else place

    def holds(self, place: str) -> bool:
        """Return whether the run made, changed or removed this file, or a folder that it is in."""
        here = place
        while here not in self._is_there:
            above = posixpath.dirname(here)
            if above == here:
                return False
            here = above
        return True

    def follow(self, path: str) -> str:
        """Return the place that a path leads to through links, those of this execution too."""
        return follow_links(path, self.at)[0]

    def names(self, place: str) -> list[str]:
        """Return the names in a folder: real ones that are not hidden, and those of the overlay."""
        place = self.follow(place)
        if self.holds(place):
            return sorted(_listdir(self.upper + place))
        real = [name for name in _listdir(place) if not self.holds(posixpath.join(place, name))]
        with suppress(OSError):
            own = sorted(_listdir(self.upper + place))
            return real + [name for name in own if self.holds(posixpath.join(place, name))]
        return real

    # -- single files and folders ---------------------------------------------------------------

    def make_file(self, place: str) -> str:
        """Make the folder of a place, and return the path to write its file at."""
        parent = posixpath.dirname(place)
        outside(os.makedirs, self.upper + parent, exist_ok=True)
        while self._is_there.get(parent) is False:
            self._is_there[parent] = True
            parent = posixpath.dirname(parent)
        self._is_there[place] = True
        return self.upper + place

    def make_beginning(self, place: str, size: int) -> bool:
        """Let a file that is only added to begin as a hole of its recorded size; return whether it does."""
        if self._has_beginning(place, size):
            return False
        path = self.make_file(place)
        _close(_open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600))
        _truncate(path, size)
        return True

    def open_file(self, place: str, flags: int, mode: int) -> int:
        """Open a place's file for writing; a descriptor."""
        return _open(self.make_file(place), (flags | os.O_CREAT) & ~os.O_NOFOLLOW, mode | 0o600)

    def open_as_world(self, place: str, flags: int, mode: int) -> int:
        """Open a place for writing, or raise the error of the world: a missing file cannot be opened."""
        place = place if flags & os.O_EXCL and flags & os.O_CREAT else self.follow(place)
        at, number = self.at(place), 0
        is_there = is_present(at)
        if not is_there and not (
            flags & os.O_CREAT and leads_to_folder(self.at(posixpath.dirname(place)))
        ):
            number = errno.ENOENT
        elif is_there and flags & os.O_EXCL:
            number = errno.EEXIST
        elif leads_to_folder(at):
            number = errno.EISDIR
        if number:
            raise OSError(number, os.strerror(number))
        if is_there and not self.holds(place) and not flags & os.O_TRUNC:
            self.fill(place, place)
        return self.open_file(place, flags, mode)

    def _has_beginning(self, place: str, size: int) -> bool:
        del size
        return self.holds(place)

    def make_folder(self, place: str) -> str:
        """Make an empty folder, of which no real one shows through; return its path."""
        outside(os.makedirs, self.upper + place, exist_ok=True)
        self._mark(place, is_there=True)
        return self.upper + place

    def remove(self, place: str) -> None:
        """Remove a place, with everything below it."""
        _delete(self.upper + place)
        self._mark(place, is_there=False)

    def fill(self, place: str, content: str) -> str:
        """Copy a file to a place; return its path."""
        at = self.make_file(place)
        if content != at:
            outside(shutil.copyfile, content, at)
        return at

    def _mark(self, place: str, *, is_there: bool) -> None:
        for one in [one for one in self._is_there if one.startswith(place + "/")]:
            del self._is_there[one]
        self._is_there[place] = is_there

    # -- changes of the tree --------------------------------------------------------------------

    def require(self, name: str, places: Sequence[str]) -> None:
        """Raise the error with which the world would refuse a change."""
        first = self.at(places[0])
        is_folder = leads_to_folder(first) and not is_link(first)
        number = 0
        if name in _MAKES:
            number = self._refusal_to_make(places[0])
        elif not is_present(first):
            number = errno.ENOENT
        elif name == "unlink" and is_folder:
            number = errno.EISDIR
        elif name == "rmdir" and not is_folder:
            number = errno.ENOTDIR
        elif name == "rmdir" and self.names(places[0]):
            number = errno.ENOTEMPTY
        elif name == "link":
            number = self._refusal_to_make(places[1])
        elif name == "rename" and not leads_to_folder(self.at(posixpath.dirname(places[1]))):
            number = errno.ENOENT
        if number:
            raise OSError(number, os.strerror(number))

    def _refusal_to_make(self, place: str) -> int:
        if is_present(self.at(place)):
            return errno.EEXIST
        return 0 if leads_to_folder(self.at(posixpath.dirname(place))) else errno.ENOENT

    def apply(self, name: str, places: Sequence[str], real: Callable[[Any], Any]) -> None:
        """Let a change of these places come to pass; ``real`` is the system's function, given the changed path."""
        place = places[0]
        match name:
            case "mkdir":
                folder = self.make_folder(place)
                with suppress(OSError):  # once more as the program did: libraries ask for its mode
                    _rmdir(folder)
                    real(folder)
            case "unlink" | "rmdir":
                self.remove(place)
            case "rename":
                self._rename(place, places[1])
            case "link":
                if leads_to_file(self.at(place)):
                    self.fill(places[1], self.at(place))
            case "symlink" | "mkfifo" | "mknod":
                self.remove(place)
                real(self.make_file(place))
            case _:
                place = self.follow(
                    place
                )  # the system's function would follow a link to a real file
                if self.holds(place):
                    real(self.at(place))

    def _rename(self, source: str, target: str) -> None:
        if self.holds(source):
            self._move(source, target)
        else:
            self.remove(target)
            self._copy(source, target)
        self.remove(source)

    def _move(self, source: str, target: str) -> None:
        """Move the overlay's own files."""
        below = {
            target + place[len(source) :]: is_there
            for place, is_there in self._is_there.items()
            if place == source or place.startswith(source + "/")
        }
        self.remove(target)
        path = self.make_file(target)
        if is_present(self.upper + source):
            _rename(self.upper + source, path)
        self._is_there.update(below)

    def _copy(self, source: str, target: str) -> None:
        """Copy a real place with what the run changed below it. Links stay links, dangling ones too."""
        at = self.at(source)
        if is_link(at):
            _symlink(_readlink(at), self.make_file(target))
            return
        if leads_to_folder(at):
            self.make_folder(target)
            for name in self.names(source):
                self._copy(f"{source}/{name}", f"{target}/{name}")
        elif leads_to_file(at):
            self.fill(target, at)
        with suppress(OSError):
            outside(shutil.copystat, at, self.at(target))


class WorldTree(Overlay):
    """The tree of files of a process in a world: every folder that it reaches is a copy, so places are true paths.

    Code of any language sees one tree, which the kernel keeps. Outside of a world, the same calls would change the
    user's files. ``folder`` is for contents that the record carries.
    """

    def __init__(self, folder: str) -> None:  # makes nothing: most replays carry no contents
        self.upper, self.kept, self._is_there = "", f"{folder}/kept", {}

    def at(self, place: str) -> str:
        """Return the place itself."""
        return place

    def holds(self, place: str) -> bool:
        """Return True: a place may be changed where it is."""
        del place
        return True

    def follow(self, path: str) -> str:
        """Return a path without links."""
        return follow_links(path)[0]

    def names(self, place: str) -> list[str]:
        """Return the names in a folder."""
        return _listdir(place)

    def make_folder(self, place: str) -> str:
        """Make an empty folder; return its path."""
        _delete(place)
        return super().make_folder(place)

    def _has_beginning(self, place: str, size: int) -> bool:
        with suppress(OSError):
            return _stat(place).st_size == size
        return False

    def _mark(self, place: str, *, is_there: bool) -> None:
        """Note nothing: the kernel knows what is there."""

    def _rename(self, source: str, target: str) -> None:
        outside(os.makedirs, posixpath.dirname(target), exist_ok=True)
        try:
            _rename(source, target)
        except OSError as error:
            if error.errno != errno.EXDEV:
                raise
            # A folder of the real tree cannot be renamed in a world; its copy can be made anew.
            _delete(target)
            outside(shutil.copytree, source, target, symlinks=True)
            _delete(source)


def _delete(path: str) -> None:
    if leads_to_folder(path) and not is_link(path):
        outside(shutil.rmtree, path, ignore_errors=True)
    elif is_present(path):
        _unlink(path)
