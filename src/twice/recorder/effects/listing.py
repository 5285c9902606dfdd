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
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from sys import _getframe
from types import FrameType
from typing import Any, Self

from twice.foundation.with_blocks import Closing
from twice.recorder.effects import ops
from twice.recorder.effects.files.filesystem import Files
from twice.recorder.effects.files.places import Caller
from twice.recorder.effects.outcomes import RAISED, Outcome, given, outcome_of
from twice.recorder.effects.patches import Patch
from twice.recorder.kernel.confinement import retry_interrupted
from twice.recorder.kernel.paths import escape_path, unescape_path

_HERE = str(Path(__file__).parent)
_world_scans = [os.scandir]
"""How the world lists a folder, as it was when the newest session began."""
Names = list[Any]
FOLDER, FILE, LINK, OTHER, GONE = "folder", "file", "link", "other", "gone"
_KINDS = {stat.S_IFDIR: FOLDER, stat.S_IFREG: FILE, stat.S_IFLNK: LINK}
_lstat = os.lstat


def patches(files: Files) -> list[Patch]:
    """Return the patches of the functions that list folders, for a session."""
    listdir, scandir = retry_interrupted(os.listdir), retry_interrupted(os.scandir)
    _world_scans[0] = scandir

    def governed_listdir(path: Any = None) -> Any:
        found = _find(files, path, _getframe(1))
        if found is None:
            return listdir(path)
        folder = "." if path is None else path
        if found[0] is Caller.PROGRAM:
            names = _list_strictly(files, ops.LISTDIR, found[1], folder, with_kinds=False)
        else:
            names = [name for name, _ in _list(files, *found, folder)]
        return [unescape_path(name) for name in names]

    def governed_scandir(path: Any = None) -> Any:
        found = _find(files, path, _getframe(1))
        if found is None:
            return scandir(path)
        (by, place), folder = found, os.fspath("." if path is None else path)
        if by is Caller.PROGRAM and files.is_silent(by):
            names = _list_strictly(files, ops.SCANDIR, place, folder, with_kinds=False)
            there: dict[Any, str] = {}
            with suppress(OSError):  # the folder is gone: its entries say so
                there = dict(_list_world(files, place, folder))
            entries = [(name, there.get(name, GONE)) for name in names]
        else:
            entries = _list(files, by, place, folder)
        return Entries([Entry(folder, unescape_path(name), kind) for name, kind in entries])

    rows = [
        Patch(os, "listdir", governed_listdir, lambda read: read(_HERE)),
        Patch(os, "scandir", governed_scandir, lambda read: read(_HERE)),
    ]
    globber = getattr(glob, "_StringGlobber", None)
    if globber is not None:  # from Python 3.13 on it keeps a name of its own
        rows.append(Patch(globber, "scandir", staticmethod(governed_scandir)))
    return rows


def _find(files: Files, path: Any, frame: FrameType) -> tuple[Caller, str] | None:
    """Return on whose behalf a governed folder is listed, and its place; None where the system lists it.

    All of a program's own listings are governed, a library's only among inputs.
    """
    by = None if isinstance(path, int) else files.caller(frame)
    place = None if by is None else files.places.of("." if path is None else path)
    if by is None or place is None:
        return None
    is_input = files.governs(place) and (files.overlay is not None or not files.is_silent(by))
    return (by, place) if by is Caller.PROGRAM or is_input else None


def _list_strictly(files: Files, op: ops.Op, place: str, folder: Any, *, with_kinds: bool) -> Names:
    """List as the program's own code does: names, or pairs with kinds, in their recorded form."""

    def world() -> Names:
        entries = _list_world(files, place, folder)
        return entries if with_kinds else [name for name, _ in entries]

    actor = files.layer.actor()
    if actor is None:
        return world()
    named: Any = files.places.to_recorded(place)
    if files.is_silent(Caller.PROGRAM):  # as records are read that know no other files
        named = os.fspath(folder)
        named = files.places.to_recorded(named) if isinstance(named, str) else named
    outcome: Any = files.layer.read(actor, op, lambda: outcome_of(world), named)
    return list(_unwrap(outcome, folder))


def _list(files: Files, by: Caller, place: str, folder: Any) -> Names:
    """Return the names with kinds, in their recorded form, for the program or a library."""
    if files.is_silent(by):
        return _list_world(files, place, folder)
    if by is Caller.PROGRAM:
        return _list_strictly(files, ops.ENTRIES, place, folder, with_kinds=True)
    listed = (files.places.to_recorded(place), isinstance(folder, bytes))
    live = lambda: outcome_of(_list_world, files, place, folder)  # noqa: E731
    return list(_unwrap(files.layer.fact(ops.LISTED, listed, live, needed=False), folder))


def _list_world(files: Files, place: str, folder: Any) -> Names:
    """Return the names with kinds, in their recorded form, as they are in this execution."""
    if files.overlay is None:
        with _world_scans[0](folder) as entries:
            return [(escape_path(entry.name), _find_kind(entry)) for entry in entries]
    keep = os.fsencode if isinstance(folder, bytes) else escape_path
    names = files.overlay.names(place)
    return [(keep(name), _find_kind_at(files.at(f"{place.rstrip('/')}/{name}"))) for name in names]


def _unwrap(outcome: Outcome, folder: Any) -> Any:
    how, value = outcome
    if how == RAISED and value[0] == "builtins" and len(value[2]) > 2:
        number, text, *_ = value[2]
        raise OSError(number, text, os.fspath(folder))  # by the name that the program knows
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
