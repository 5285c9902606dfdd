"""Listings of folders: how they are read live, recorded, replayed, and what stays outside.

Covered: ``os.listdir`` and ``os.scandir``, and through them ``os.walk``, ``glob`` and ``pathlib``. A
listing is its names in the order in which the system gave them, with the kind of each entry; in replay the
recorded names come in the recorded order. A folder that could not be listed raises the same error again. A
listing that a library makes is answered by its folder; the program's own are compared in their order.

Not covered: listings by descriptor. Where no files are recorded (``--files none``), entries are asked of the folder
as it is now, and one that is gone says that it is not there.

Invariant: what is served has every recorded name and no other.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from sys import _getframe
from typing import Any, Self

from twice.foundation.with_blocks import Closing
from twice.recorder.effects import ops
from twice.recorder.effects.filenames import kept, told
from twice.recorder.effects.files.askers import By, asked_by
from twice.recorder.effects.files.entries import Entry, kind_at, kind_of
from twice.recorder.effects.files.filesystem import Files
from twice.recorder.effects.outcomes import RAISED, Outcome, given, outcome_of
from twice.recorder.effects.patches import Patch
from twice.recorder.kernel.interrupted_calls import retry_interrupted

_HERE = str(Path(__file__).parent)
_world_scans = [os.scandir]
"""How the world lists a folder, as it was when the newest session began."""
Names = list[Any]


def patches(files: Files) -> list[Patch]:
    """Return the patches of the functions that list folders, for a session.

    Args:
        files: the session's files.
    """
    listdir, scandir = retry_interrupted(os.listdir), retry_interrupted(os.scandir)
    _world_scans[0] = scandir

    def governed_listdir(path: Any = None) -> Any:
        by = None if isinstance(path, int) else asked_by(files, _getframe(1))
        folder = "." if path is None else path
        place = None if by is None else files.places.of(folder)
        if by is None or place is None or not _governs(files, by, place):
            return listdir(path)
        if by is By.PROGRAM:
            names = _strict(files, ops.LISTDIR, place, folder, lambda: _names(files, place, folder))
            return [told(name) for name in names]
        return [told(name) for name, _ in _listed(files, by, place, folder)]

    def governed_scandir(path: Any = None) -> Any:
        by = None if isinstance(path, int) else asked_by(files, _getframe(1))
        folder = os.fspath("." if path is None else path) if by is not None else path
        place = None if by is None else files.places.of(folder)
        if by is None or place is None or not _governs(files, by, place):
            return scandir(path)
        if by is By.PROGRAM and files.silent(by):
            names = _strict(files, ops.SCANDIR, place, folder, lambda: _names(files, place, folder))
            there = dict(_quietly(files, place, folder))
            return Entries([Entry(folder, told(name), there.get(name, "gone")) for name in names])
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


def _governs(files: Files, by: By, place: str) -> bool:
    """Return whether a listing is governed: all of a program's own, a library's only among inputs."""
    if by is By.PROGRAM:
        return True
    return files.governs(place) and (files.overlay is not None or not files.silent(by))


def _strict(files: Files, op: ops.Op, place: str, folder: Any, world: Callable[[], Names]) -> Names:
    """Ask as the program's own code does; names come in their recorded form.

    Raises:
        OSError: as the world or the record says.
    """
    layer = files.layer
    actor = layer.actor()
    if actor is None:
        return world()
    named: Any = files.places.named(place)
    if files.silent(By.PROGRAM):  # as records are read that know no other files
        named = os.fspath(folder)
        named = files.places.named(named) if isinstance(named, str) else named
    outcome: Any = layer.read(actor, op, lambda: outcome_of(world), named)
    return list(_given(outcome, folder))


def _listed(files: Files, by: By, place: str, folder: Any) -> Names:
    """Return the names with kinds, in their recorded form, for the program or a library.

    Raises:
        OSError: as the world or the record says.
    """

    def world() -> Names:
        return _world(files, place, folder)

    if files.silent(by):
        return world()
    if by is By.PROGRAM:
        return _strict(files, ops.ENTRIES, place, folder, world)
    named = files.places.named(place)
    listed = (named, isinstance(folder, bytes))
    outcome = files.layer.fact(ops.LISTED, listed, lambda: outcome_of(world), needed=False)
    return list(_given(outcome, folder))


def _world(files: Files, place: str, folder: Any) -> Names:
    """Return the names with kinds, in their recorded form, as they are in this execution."""
    if files.changes is None:
        with _world_scans[0](folder) as entries:
            return [(kept(entry.name), kind_of(entry)) for entry in entries]
    return [
        (
            os.fsencode(name) if isinstance(folder, bytes) else kept(name),
            kind_at(files.at(f"{place.rstrip('/')}/{name}")),
        )
        for name in files.changes.names(place)
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
