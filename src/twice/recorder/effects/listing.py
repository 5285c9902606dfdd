"""Listings of folders: how they are read live, recorded, replayed, and what stays outside.

Covered: ``os.listdir`` and ``os.scandir``, and through them ``os.walk``, ``glob`` and ``pathlib``. A
listing is its names in the order in which the system gave them, with the kind of each entry; in replay the
recorded names come in the recorded order. A folder that could not be listed raises the same error again. A
listing that a library makes is answered by its folder; the program's own are compared in their order.

An entry of ``os.scandir`` stands in replay for the folder as it was: ``is_dir``, ``is_file`` and ``is_symlink`` are
answered from the record without asking anything; ``stat`` and the target of a link are questions of their own, asked
like ``os.stat``. So an entry asks nothing that the system's own entry would know already.

Not covered: listings by descriptor. Where no files are recorded (``--files none``), entries are asked of the folder
as it is now, and one that is gone says that it is not there.

Invariant: what is served has every recorded name and no other.
"""

from __future__ import annotations

import glob
import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from sys import _getframe
from typing import Any, Self

from twice.foundation.with_blocks import Closing
from twice.recorder.effects import ops
from twice.recorder.effects.filenames import kept, told
from twice.recorder.effects.files.filesystem import Files
from twice.recorder.effects.files.places import Caller
from twice.recorder.effects.outcomes import RAISED, Outcome, given, outcome_of
from twice.recorder.effects.patches import Patch
from twice.recorder.kernel.interrupted_calls import retry_interrupted

_HERE = str(Path(__file__).parent)
_world_scans = [os.scandir]
"""How the world lists a folder, as it was when the newest session began."""
Names = list[Any]
FOLDER, FILE, LINK, OTHER, GONE = "folder", "file", "link", "other", "gone"
_KINDS = {stat.S_IFDIR: FOLDER, stat.S_IFREG: FILE, stat.S_IFLNK: LINK}
_lstat = os.lstat


def patches(files: Files) -> list[Patch]:
    """Return the patches of the functions that list folders, for a session.

    Args:
        files: the session's files.
    """
    listdir, scandir = retry_interrupted(os.listdir), retry_interrupted(os.scandir)
    _world_scans[0] = scandir

    def governed_listdir(path: Any = None) -> Any:
        by = None if isinstance(path, int) else files.caller(_getframe(1))
        folder = "." if path is None else path
        place = None if by is None else files.places.of(folder)
        if by is None or place is None or not _governs(files, by, place):
            return listdir(path)
        if by is Caller.PROGRAM:
            names = _strict(files, ops.LISTDIR, place, folder, lambda: _names(files, place, folder))
            return [told(name) for name in names]
        return [told(name) for name, _ in _listed(files, by, place, folder)]

    def governed_scandir(path: Any = None) -> Any:
        by = None if isinstance(path, int) else files.caller(_getframe(1))
        folder = os.fspath("." if path is None else path) if by is not None else path
        place = None if by is None else files.places.of(folder)
        if by is None or place is None or not _governs(files, by, place):
            return scandir(path)
        if by is Caller.PROGRAM and files.is_silent(by):
            names = _strict(files, ops.SCANDIR, place, folder, lambda: _names(files, place, folder))
            there = dict(_quietly(files, place, folder))
            return Entries([Entry(folder, told(name), there.get(name, GONE)) for name in names])
        return Entries(
            [Entry(folder, told(name), kind) for name, kind in _listed(files, by, place, folder)]
        )

    rows = [
        Patch(os, "listdir", governed_listdir, lambda read: read(_HERE)),
        Patch(os, "scandir", governed_scandir, lambda read: read(_HERE)),
    ]
    globber = getattr(
        glob, "_StringGlobber", None
    )  # from Python 3.13 on it keeps a name of its own
    if globber is not None:
        rows.append(Patch(globber, "scandir", staticmethod(governed_scandir)))
    return rows


def _governs(files: Files, by: Caller, place: str) -> bool:
    """Return whether a listing is governed: all of a program's own, a library's only among inputs."""
    if by is Caller.PROGRAM:
        return True
    return files.governs(place) and (files.overlay is not None or not files.is_silent(by))


def _strict(files: Files, op: ops.Op, place: str, folder: Any, world: Callable[[], Names]) -> Names:
    """Ask as the program's own code does; names come in their recorded form.

    Raises:
        OSError: as the world or the record says.
    """
    layer = files.layer
    actor = layer.actor()
    if actor is None:
        return world()
    named: Any = files.places.to_recorded(place)
    if files.is_silent(Caller.PROGRAM):  # as records are read that know no other files
        named = os.fspath(folder)
        named = files.places.to_recorded(named) if isinstance(named, str) else named
    outcome: Any = layer.read(actor, op, lambda: outcome_of(world), named)
    return list(_given(outcome, folder))


def _listed(files: Files, by: Caller, place: str, folder: Any) -> Names:
    """Return the names with kinds, in their recorded form, for the program or a library.

    Raises:
        OSError: as the world or the record says.
    """

    def world() -> Names:
        return _world(files, place, folder)

    if files.is_silent(by):
        return world()
    if by is Caller.PROGRAM:
        return _strict(files, ops.ENTRIES, place, folder, world)
    named = files.places.to_recorded(place)
    listed = (named, isinstance(folder, bytes))
    outcome = files.layer.fact(ops.LISTED, listed, lambda: outcome_of(world), needed=False)
    return list(_given(outcome, folder))


def _world(files: Files, place: str, folder: Any) -> Names:
    """Return the names with kinds, in their recorded form, as they are in this execution."""
    if files.overlay is None:
        with _world_scans[0](folder) as entries:
            return [(kept(entry.name), _find_kind(entry)) for entry in entries]
    return [
        (
            os.fsencode(name) if isinstance(folder, bytes) else kept(name),
            _find_kind_at(files.at(f"{place.rstrip('/')}/{name}")),
        )
        for name in files.overlay.names(place)
    ]


def _names(files: Files, place: str, folder: Any) -> Names:
    return [name for name, _ in _world(files, place, folder)]


def _quietly(files: Files, place: str, folder: Any) -> Names:
    try:
        return _world(files, place, folder)
    except OSError:
        return []  # the folder is gone: its entries say so


def _given(outcome: Outcome, folder: Any) -> Any:
    how, value = outcome
    if how == RAISED and value[0] == "builtins" and len(value[2]) > 2:
        number, text, *_ = value[2]
        raise OSError(number, text, os.fspath(folder))
    return given(outcome)


class Entries(Closing):
    """What ``os.scandir`` gives: an iterator that can be closed."""

    def __init__(self, entries: list[Any]) -> None:
        self._entries: Iterator[Any] = iter(entries)

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Any:
        return next(self._entries)

    def close(self) -> None:
        """End the listing."""
        self._entries = iter(())


def _find_kind(entry: Any) -> str:
    """Return the kind of a directory entry, without following links."""
    if entry.is_symlink():
        return LINK
    if entry.is_dir(follow_symlinks=False):
        return FOLDER
    return FILE if entry.is_file(follow_symlinks=False) else OTHER


def _find_kind_at(path: str) -> str:
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
