"""Extended attributes of files, and the file systems that hold them: what ``os`` says of both.

Covered: ``listxattr``, ``getxattr``, ``statvfs``, and through them ``shutil.copy2``, ``copytree`` and ``disk_usage``. The
program's own questions are strict. A library is told of attributes as they are where this execution keeps the file,
and of a file system as it was.

Elsewhere: setting and removing attributes (``changing.py``).

Invariant: a file that a replay wrote is asked in the overlay, never at its real place.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from sys import _getframe
from typing import Any

from twice.recorder.effects.files.askers import By, asked_by
from twice.recorder.effects.files.asking import ask, in_plain_values
from twice.recorder.effects.files.filesystem import Files
from twice.recorder.effects.patches import Patch


def patches(files: Files) -> list[Patch]:
    """Return the patches of these functions for a session, where the system has them."""
    rows = []
    for name, made in (("listxattr", _listed), ("getxattr", _got), ("statvfs", _system)):
        real = getattr(os, name, None)
        if real is not None:
            rows.append(Patch(os, name, made(files, real)))
    return rows


def _listed(files: Files, real: Callable[..., Any]) -> Callable[..., Any]:
    def listxattr(path: Any = None, *, follow_symlinks: bool = True) -> Any:
        asked = "." if path is None else path
        by = asked_by(files, _getframe(1))
        return _answer(
            files, by, "listxattr", asked, partial(real, follow_symlinks=follow_symlinks)
        )

    return listxattr


def _got(files: Files, real: Callable[..., Any]) -> Callable[..., Any]:
    def getxattr(path: Any, attribute: Any, *, follow_symlinks: bool = True) -> Any:
        by = asked_by(files, _getframe(1))
        world = lambda at: real(at, attribute, follow_symlinks=follow_symlinks)  # noqa: E731
        return _answer(files, by, "getxattr", path, world, os.fsdecode(attribute))

    return getxattr


def _system(files: Files, real: Callable[..., Any]) -> Callable[..., Any]:
    def plain(at: Any) -> Any:
        found = real(at)
        return (*found, found.f_fsid)

    def statvfs(path: Any) -> Any:
        by = asked_by(files, _getframe(1))
        *found, system = _answer(files, by, "statvfs", path, plain)
        return os.statvfs_result(found, {"f_fsid": system})

    return statvfs


def _answer(
    files: Files,
    by: By | None,
    name: str,
    path: Any,
    world: Callable[[Any], Any],
    *more: str,
) -> Any:
    """Return the world's or the record's answer about a path.

    Raises:
        OSError: as either says.
    """
    place = None
    if by is not None:
        is_open = isinstance(path, int)
        place = files.places.of_open(path) if is_open else files.places.of(path)
    if place is None or (by is not By.PROGRAM and not files.governs(place)):
        return world(path)
    assert by is not None, "a place is looked for on somebody's behalf"
    at = path if isinstance(path, int) or files.at(place) == place else files.at(place)
    if files.silent(by) or (by is not By.PROGRAM and name != "statvfs"):
        return world(at)
    how, answer = ask(
        files,
        by,
        (name, files.places.named(place), *more),
        lambda: in_plain_values(lambda: _kept(world(at))),
    )
    if how == "raised":
        raise OSError(*answer, path)
    return list(answer) if isinstance(answer, tuple) else answer


def _kept(answer: Any) -> Any:
    return tuple(answer) if isinstance(answer, list) else answer
