"""Files and folders scanned one after another, with how far and how fast it goes.

Invariant: files are taken in the order of their names, and links lead nowhere outside what was named.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path

from twice.assets.containers.source import Source
from twice.assets.leaks.findings import Finding, Leaks, Unread
from twice.assets.leaks.known import NOTHING, Known
from twice.assets.leaks.scanning import Limits, Scan
from twice.errors import LeaksRefused


def files_below(paths: Iterable[Path]) -> list[Path]:
    """The files named, and all below the folders named; links to files only inside what is named.

    Raises:
        LeaksRefused: E-LEAKS-001, there is nothing at a path.
    """
    found: dict[Path, None] = {}
    for path in paths:
        if path.is_file():
            found[path] = None
        elif path.is_dir():
            for folder, inner, names in os.walk(path):
                inner.sort()
                for name in sorted(names):
                    found[Path(folder) / name] = None
        else:
            raise LeaksRefused(
                f"There is nothing at {path}.",
                "Expected files or folders of a public build.",
                "For example: twice asset leaks build/",
            )
    return list(found)


def look(
    paths: Iterable[Path],
    *,
    known: Known = NOTHING,
    limits: Limits | None = None,
    progress: Callable[[str, int, int], None] | None = None,
) -> Leaks:
    """What leaks from files and folders.

    Args:
        paths: files and folders.
        known: a project's own values.
        limits: what one file may cost.
        progress: told before each file: its name, bytes done, bytes in all.

    Raises:
        LeaksRefused: E-LEAKS-001, there is nothing at a path.
    """
    files = files_below(paths)
    sizes = [_size(path) for path in files]
    findings: list[Finding] = []
    unread: list[Unread] = []
    done = 0
    for path, size in zip(files, sizes, strict=True):
        if progress is not None:
            progress(str(path), done, sum(sizes))
        for found in _file(path, known, limits):
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


def _file(path: Path, known: Known, limits: Limits | None) -> Iterable[Finding | Unread]:
    if not path.is_file():
        yield Unread((str(path),), None, "it is no regular file, or a link to nowhere")
        return
    try:
        with path.open("rb") as file:
            yield from Scan(known, limits).file(Source.of_file(file), str(path))
    except OSError as error:
        yield Unread((str(path),), None, f"it cannot be read: {error.strerror or error}")
