"""What a change to the tree of files does in the overlay: folders, names, links, lengths, rights.

Two callers: a replay, which knows from the record that a change came to pass and lets it; and whoever asks
no record (a branch that left it, a library on a path of its own), for whom the overlay answers as the world
would, with the same errors.

Not for: rights and times of files that the run did not write; they stay as they are.

Invariant: only the overlay changes.
"""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from twice.recorder.effects.actors import outside
from twice.recorder.effects.files.overlay import WritableTree

if TYPE_CHECKING:
    from twice.recorder.effects.files.filesystem import Files

_listdir, _truncate, _symlink, _rmdir = os.listdir, os.truncate, os.symlink, os.rmdir


class Changes:
    """Changes to one session's overlay.

    Args:
        files: the session's files.
        overlay: where it writes.
    """

    def __init__(self, files: Files, overlay: WritableTree) -> None:
        self._files, self._overlay = files, overlay

    def require(self, name: str, places: Sequence[str]) -> None:
        """Refuse a change that the world would refuse.

        Raises:
            OSError: with the number that the system gives.
        """
        first = self._overlay.at(places[0])
        there = os.path.lexists(first)
        if name in {"mkdir", "mkfifo", "mknod", "symlink"}:
            self._require_free(places[0])
            return
        if not there:
            raise _error(errno.ENOENT)
        is_folder = os.path.isdir(first) and not os.path.islink(first)  # noqa: PTH112, PTH114
        if name == "unlink" and is_folder:
            raise _error(errno.EISDIR)
        if name == "rmdir":
            if not is_folder:
                raise _error(errno.ENOTDIR)
            if self.names(places[0]):
                raise _error(errno.ENOTEMPTY)
        if name == "link":
            self._require_free(places[1])
        if name == "rename" and not self._is_folder(os.path.dirname(places[1])):  # noqa: PTH120
            raise _error(errno.ENOENT)

    def _require_free(self, place: str) -> None:
        if os.path.lexists(self._overlay.at(place)):
            raise _error(errno.EEXIST)
        if not self._is_folder(os.path.dirname(place)):  # noqa: PTH120
            raise _error(errno.ENOENT)

    def _is_folder(self, place: str) -> bool:
        return os.path.isdir(self._overlay.at(place))  # noqa: PTH112

    def names(self, place: str) -> list[str]:
        """Return the names in a folder in this execution.

        Raises:
            OSError: when it is none.
        """
        at = self._overlay.at(place)
        return self._overlay.names(place, _listdir(at) if at == place else ())

    def apply(self, name: str, places: Sequence[str], real: Callable[[Any], Any]) -> None:
        """Let a change come to pass in the overlay.

        Args:
            name: which change.
            places: what it changes, first to last.
            real: the system's function, given the path that is changed.
        """
        overlay, place = self._overlay, places[0]
        match name:
            case "mkdir":
                _make_anew(overlay.make_folder(place), real)
            case "unlink" | "rmdir":
                overlay.remove(place)
            case "rename":
                self._rename(place, places[1])
            case "link":
                if os.path.isfile(overlay.at(place)):  # noqa: PTH113
                    overlay.fill(places[1], overlay.at(place))
            case "symlink" | "mkfifo" | "mknod":
                overlay.remove(place)
                real(overlay.make_file(place))
            case _:
                if overlay.holds(place):
                    real(overlay.at(place))

    def _rename(self, source: str, target: str) -> None:
        overlay = self._overlay
        if overlay.holds(source):
            overlay.move(source, target)
            return
        if os.path.isdir(source):  # noqa: PTH112
            outside(shutil.copytree, source, overlay.make_folder(target), dirs_exist_ok=True)
        elif os.path.isfile(source):  # noqa: PTH113
            overlay.fill(target, source)
        overlay.remove(source)


def _make_anew(folder: str, real: Callable[[Any], Any]) -> None:
    """Make an empty folder once more as the program did: with its mode, which libraries ask for."""
    with suppress(OSError):
        _rmdir(folder)
        real(folder)


def _error(number: int) -> OSError:
    return OSError(number, os.strerror(number))
