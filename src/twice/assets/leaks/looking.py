"""Files and folders scanned one after another, with how far and how fast it goes.

Invariant: files are taken in the order of their names. A link inside a folder is followed to what was named as well,
and nowhere else: one that leads outside is reported, and not looked into.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

from twice.assets.containers.source import Source
from twice.assets.errors import LeaksRefused
from twice.assets.leaks.findings import Finding, Leaks, Unread
from twice.assets.leaks.known import NOTHING, Known
from twice.assets.leaks.scanning import Limits, Scan

_OUTSIDE: Final = "it is a link that leads outside of what was named"


def files_below(paths: Iterable[Path], *, empty: bool = False) -> list[Path]:
    """List the named files, and all files below the named folders; list links to folders as files.

    Args:
        paths: files and folders.
        empty: whether a folder may contain no file.

    Raises:
        LeaksRefused: E-LEAKS-001, there is nothing at a path, or no file in a folder.
    """
    found: dict[Path, None] = {}
    for path in paths:
        before = len(found)
        if path.is_file():
            found[path] = None
        elif path.is_dir():
            for folder, inner, names in os.walk(path):
                inner.sort()
                linked = [name for name in inner if Path(folder, name).is_symlink()]
                for name in sorted([*names, *linked]):
                    found[Path(folder) / name] = None
        else:
            raise LeaksRefused(
                f"There is nothing at {path}.",
                "Expected files or folders of a public build.",
                "For example: twice asset leaks build/",
            )
        if len(found) == before and path.is_dir() and not empty and not _is_within(path, found):
            raise LeaksRefused(
                f"There is no file in {path}: nothing was looked at.",
                "Expected a public build.",
                "Build it first; or say that it may be empty: --allow-empty",
            )
    return list(found)


def _is_within(folder: Path, found: Iterable[Path]) -> bool:
    """Whether a folder's files were found already, by a folder above that was named too."""
    return any(folder in each.parents for each in found)


def look(
    paths: Iterable[Path],
    *,
    known: Known = NOTHING,
    limits: Limits | None = None,
    progress: Callable[[str, int, int], None] | None = None,
    empty: bool = False,
) -> Leaks:
    """Find leaks in files and folders.

    Args:
        paths: files and folders.
        known: the project's own values.
        limits: the limits for one file.
        progress: called before each file with its name, the bytes done and the bytes in all.
        empty: whether a folder may contain no file.

    Raises:
        LeaksRefused: E-LEAKS-001, there is nothing at a path, or no file in a folder.
    """
    named = [Path(path) for path in paths]
    roots = [path.resolve() for path in named]
    files = [path for path in files_below(named, empty=empty) if not _is_inner(path, named, roots)]
    sizes = [_size(path) for path in files]
    findings: list[Finding] = []
    unread: list[Unread] = []
    done = 0
    for path, size in zip(files, sizes, strict=True):
        if progress is not None:
            progress(str(path), done, sum(sizes))
        for found in _file(path, known, limits, outside=_is_outside(path, named, roots)):
            if isinstance(found, Finding):
                findings.append(found)
            else:
                unread.append(found)
        done += size
    return Leaks(tuple(findings), tuple(unread), len(files), done)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _is_inner(path: Path, named: list[Path], roots: list[Path]) -> bool:
    """Whether a path is a link to a folder that is looked through under its own name."""
    return path.is_dir() and not _is_outside(path, named, roots)


def _is_outside(path: Path, named: list[Path], roots: list[Path]) -> bool:
    """Whether a path is a link, not itself named, whose end lies outside of what was named."""
    if path in named or not path.is_symlink() or not path.exists():
        return False
    end = path.resolve()
    return not any(root == end or root in end.parents for root in roots)


def _file(
    path: Path, known: Known, limits: Limits | None, *, outside: bool
) -> Iterable[Finding | Unread]:
    if outside or not path.is_file():
        why = _OUTSIDE if outside else "it is no regular file, or a link to nowhere"
        yield Unread((str(path),), None, why)
        return
    try:
        with path.open("rb") as file:
            yield from Scan(known, limits).file(Source.of_file(file), str(path))
    except OSError as error:
        yield Unread((str(path),), None, f"it cannot be read: {error.strerror or error}")
