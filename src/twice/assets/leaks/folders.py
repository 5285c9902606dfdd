"""Files and folders scanned one after another, with how far it is.

Invariant: files are taken in the order of their names. A link inside a folder is followed to what was named as well,
and nowhere else: one that leads outside is reported, and not looked into.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

from twice.assets.errors import LeaksRefused
from twice.assets.leaks.known import NOTHING, KnownValues
from twice.assets.leaks.report import LeakFinding, LeakReport, NotOpened
from twice.assets.leaks.scan import FileScan, ScanLimits

_OUTSIDE: Final = "it is a link that leads outside of what was named"
_NO_FILE: Final = "it is no regular file, or a link to nowhere"


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

    def is_outside(path: Path) -> bool:
        if path in named or not path.is_symlink() or not path.exists():
            return False
        end = path.resolve()
        return not any(root == end or root in end.parents for root in roots)

    files = [
        path for path in _list_files(named, empty=empty) if is_outside(path) or not path.is_dir()
    ]
    sizes = [path.stat().st_size if path.is_file() else 0 for path in files]
    findings: list[LeakFinding] = []
    unread: list[NotOpened] = []
    done, whole = 0, sum(sizes)
    for path, size in zip(files, sizes, strict=True):
        if progress is not None:
            progress(str(path), done, whole)
        if is_outside(path) or not path.is_file():
            unread.append(NotOpened((str(path),), None, _OUTSIDE if is_outside(path) else _NO_FILE))
            continue
        try:
            with path.open("rb") as file:
                for found in FileScan(known, limits).scan(file, str(path)):
                    findings.append(found) if isinstance(found, LeakFinding) else unread.append(
                        found
                    )
        except OSError as error:
            why = f"it cannot be read: {error.strerror or error}"
            unread.append(NotOpened((str(path),), None, why))
        done += size
    return LeakReport(tuple(findings), tuple(unread), len(files), done)


def _list_files(paths: list[Path], *, empty: bool) -> list[Path]:
    """List the named files, and all files below the named folders; list links to folders as files."""
    found: dict[Path, None] = {}
    for path in paths:
        before = len(found)
        if path.is_file():
            found[path] = None
        elif path.is_dir():
            for folder, inner, names in os.walk(path):
                inner.sort()
                linked = [name for name in inner if Path(folder, name).is_symlink()]
                found.update(
                    dict.fromkeys(Path(folder) / name for name in sorted([*names, *linked]))
                )
        else:
            raise LeaksRefused(
                f"There is nothing at {path}.",
                "Expected files or folders of a public build.",
                "For example: twice asset leaks build/",
            )
        # A folder's files may have been found already, by a folder above that was named too.
        is_new = len(found) > before or any(path in each.parents for each in found)
        if path.is_dir() and not empty and not is_new:
            raise LeaksRefused(
                f"There is no file in {path}: nothing was looked at.",
                "Expected a public build.",
                "Build it first; or say that it may be empty: --allow-empty",
            )
    return list(found)
