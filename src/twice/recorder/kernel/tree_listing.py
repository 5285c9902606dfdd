"""What changed below some folders between two moments, told by names, sizes and times alone.

The lowest tier: it needs nothing of the system, and sees nothing but its traces. A file that was changed
is named; what it held before is gone, and who read which file is never known.

Invariant: no file is opened.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from typing import TypeAlias

from twice.foundation.dataclass import dataclass

LISTED_MAX = 200_000
"""Files after which a listing gives up: a home folder, or the root of the machine."""

Mark: TypeAlias = tuple[int, int, int, int]


@dataclass(frozen=True)
class TreeListing:
    """Files below some folders at one moment.

    Attributes:
        marks: inode, size, time of change and time of status change, in nanoseconds, by path.
        is_whole: whether all of them were listed.
    """

    marks: Mapping[str, Mark]
    is_whole: bool

    def changed_since(self, earlier: TreeListing) -> list[str]:
        """Return paths that were made, changed or removed since another listing, sorted."""
        paths = {*self.marks, *earlier.marks}
        return sorted(path for path in paths if self.marks.get(path) != earlier.marks.get(path))


def list_tree(roots: Iterable[str], is_passed_over: Callable[[str], bool]) -> TreeListing:
    """Return the files below some folders.

    Args:
        roots: folders; one inside of another is listed once.
        is_passed_over: whether a path, and everything below it, is of no interest.
    """
    marks: dict[str, Mark] = {}
    waiting = list(dict.fromkeys(os.path.realpath(root) for root in roots))
    seen = set(waiting)
    while waiting:
        try:
            entries = sorted(os.scandir(waiting.pop()), key=lambda entry: entry.name)
        except OSError:
            continue
        for entry in entries:
            if is_passed_over(entry.path):
                continue
            try:
                found = entry.stat(follow_symlinks=False)
                is_folder = entry.is_dir(follow_symlinks=False)
            except OSError:
                continue
            if is_folder:
                if entry.path not in seen:
                    seen.add(entry.path)
                    waiting.append(entry.path)
                continue
            marks[entry.path] = (found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
            if len(marks) >= LISTED_MAX:
                return TreeListing(marks, is_whole=False)
    return TreeListing(marks, is_whole=True)


class ListedRoots:
    """Folders that are listed now, and once more later.

    Args:
        roots: the folders.
        is_passed_over: whether a path, and everything below it, is of no interest.
    """

    def __init__(self, roots: Iterable[str], is_passed_over: Callable[[str], bool]) -> None:
        self._roots, self._is_passed_over = list(roots), is_passed_over
        self._before = list_tree(self._roots, is_passed_over)

    def find_changed(self) -> list[str] | None:
        """Return files that were made or changed since; None where there were too many to list."""
        now = list_tree(self._roots, self._is_passed_over)
        if not (self._before.is_whole and now.is_whole):
            return None
        return [path for path in now.changed_since(self._before) if path in now.marks]
