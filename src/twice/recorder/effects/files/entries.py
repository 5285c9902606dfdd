"""Entries of a listing, whose kinds are recorded with their names.

What ``os.scandir`` gives in replay stands for the folder as it was: ``is_dir``, ``is_file`` and ``is_symlink`` are
answered from the record without asking anything; ``stat`` and what a link leads to are questions of their
own, asked like ``os.stat``.

Not for: entries of a folder that is listed by its descriptor.

Invariant: an entry asks nothing that the system's own entry would know already.
"""

from __future__ import annotations

import os
import stat
from typing import Any

FOLDER, FILE, LINK, OTHER, GONE = "folder", "file", "link", "other", "gone"
_KINDS = {stat.S_IFDIR: FOLDER, stat.S_IFREG: FILE, stat.S_IFLNK: LINK}
_lstat = os.lstat


def kind_of(entry: Any) -> str:
    """Return the kind of a directory entry, without following links."""
    if entry.is_symlink():
        return LINK
    if entry.is_dir(follow_symlinks=False):
        return FOLDER
    return FILE if entry.is_file(follow_symlinks=False) else OTHER


def kind_at(path: str) -> str:
    """Return the kind of a path, without following links."""
    try:
        return _KINDS.get(stat.S_IFMT(_lstat(path).st_mode), OTHER)
    except OSError:
        return GONE


class Entry:
    """Stands for an ``os.DirEntry`` of a folder as the program gave it."""

    __slots__ = ("_kind", "_told", "name", "path")

    def __init__(self, folder: Any, name: Any, kind: str) -> None:
        self.name = name
        self.path: Any = os.path.join(folder, name)  # noqa: PTH118
        self._kind = kind
        self._told: dict[bool, os.stat_result] = {}

    def __fspath__(self) -> Any:
        return self.path

    def __repr__(self) -> str:
        return f"<DirEntry {self.name!r}>"

    def is_dir(self, *, follow_symlinks: bool = True) -> bool:
        """Return whether it is a directory, as the system's entry does."""
        return self._is(FOLDER, stat.S_IFDIR, follow=follow_symlinks)

    def is_file(self, *, follow_symlinks: bool = True) -> bool:
        """Return whether it is a file, as the system's entry does."""
        return self._is(FILE, stat.S_IFREG, follow=follow_symlinks)

    def is_symlink(self) -> bool:
        """Return whether it is a link, as the system's entry does."""
        return self._kind == LINK

    def is_junction(self) -> bool:
        """Return False: only Windows has junctions."""
        return False

    def stat(self, *, follow_symlinks: bool = True) -> os.stat_result:
        """Return the status, and ask the system for it once."""
        follow = follow_symlinks and self._kind == LINK
        found = self._told.get(follow)
        if found is None:
            found = self._told[follow] = os.stat(self.path, follow_symlinks=follow)  # noqa: PTH116
        return found

    def inode(self) -> int:
        """Return the inode, as the system's entry does."""
        return self.stat(follow_symlinks=False).st_ino

    def _is(self, kind: str, mode: int, *, follow: bool) -> bool:
        if self._kind != LINK or not follow:
            return self._kind == kind
        try:
            return stat.S_IFMT(self.stat().st_mode) == mode
        except FileNotFoundError:
            return False
