"""Files and folders scanned one after another, with how far it is.

Invariant: files are taken in the order of their names. A link inside a folder is followed to what was named as well,
and nowhere else: one that leads outside is reported, and not looked into.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path

from twice.assets.errors import LeaksRefused
from twice.assets.leaks.known import NOTHING, KnownValues
from twice.assets.leaks.report import LeakFinding, LeakReport, NotOpened
from twice.assets.leaks.scan import FileScan, ScanLimits, ScanResult


def scan_paths(
    paths: Iterable[Path],
    *,
    known: KnownValues = NOTHING,
    limits: ScanLimits | None = None,
    progress: Callable[[str, int, int], None] | None = None,
    empty: bool = False,
) -> LeakReport:
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
    # Why a file is not opened, or nothing.
    files: dict[Path, str] = {}
    for path in _list_files(named, empty=empty):
        end = path.resolve()
        is_linked = path not in named and path.is_symlink() and path.exists()
        if is_linked and not any(root == end or root in end.parents for root in roots):
            files[path] = "it is a link that leads outside of what was named"
        elif not path.is_dir():
            files[path] = "" if path.is_file() else "it is no regular file, or a link to nowhere"
    sizes = {path: 0 if why else path.stat().st_size for path, why in files.items()}
    results: list[ScanResult] = []
    done, whole = 0, sum(sizes.values())
    for path, reason in files.items():
        why = reason
        if progress is not None:
            progress(str(path), done, whole)
        try:
            if not why:
                with path.open("rb") as file:
                    results.extend(FileScan(known, limits).scan(file, str(path)))
        except OSError as error:
            why = f"it cannot be read: {error.strerror or error}"
        if why:
            results.append(NotOpened((str(path),), None, why))
        done += sizes[path]
    findings = tuple(each for each in results if isinstance(each, LeakFinding))
    unread = tuple(each for each in results if isinstance(each, NotOpened))
    return LeakReport(findings, unread, len(files), done)


def _list_files(paths: list[Path], *, empty: bool) -> list[Path]:
    """List the named files, and all files below the named folders; list links to folders as files."""
    found: dict[Path, None] = {}
    for path in paths:
        below = [] if path.is_dir() else [path]
        if not path.exists():
            raise LeaksRefused(
                f"There is nothing at {path}.",
                "Expected files or folders of a public build.",
                "For example: twice asset leaks build/",
            )
        for folder, inner, names in os.walk(path):
            inner.sort()
            linked = [name for name in inner if Path(folder, name).is_symlink()]
            below += [Path(folder, name) for name in sorted([*names, *linked])]
        if not below and not empty:
            raise LeaksRefused(
                f"There is no file in {path}: nothing was looked at.",
                "Expected a public build.",
                "Build it first; or say that it may be empty: --allow-empty",
            )
        found.update(dict.fromkeys(below))
    return list(found)
