"""Which file a path of another process means.

Folders are followed through their links, and so is the last part where the call follows it. Links that
were met are reported: whoever changes one changes what a program reads.

Invariant: no file is opened.
"""

from __future__ import annotations

import os
import posixpath
from collections.abc import Callable
from contextlib import suppress

from twice.foundation.dataclass import dataclass

_readlink, _lstat = os.readlink, os.lstat
_WORKING_FOLDER = -100
_LINKS_MAX = 40
_DESCRIPTORS = ("/proc/self/fd/", "/proc/thread-self/fd/", "/dev/fd/")
_LINK, _KIND = 0o120000, 0o170000
_CACHED_FOLDERS_MAX = 50_000


@dataclass(frozen=True, slots=True)
class ResolvedPath:
    """A path without links.

    Attributes:
        path: absolute; bytes that are no UTF-8 are lone surrogates, as ``os.fsdecode`` gives them.
        links: absolute paths of the links that were followed, in order.
    """

    path: str
    links: tuple[str, ...] = ()


class PathResolver:
    """Resolves paths of supervised processes; remembers folders until a link or name changes."""

    def __init__(self) -> None:
        self._folders: dict[str, tuple[str, tuple[str, ...]]] = {}

    def forget_folders(self) -> None:
        """Forget the folders: a link or a folder was made, renamed or removed."""
        self._folders.clear()

    def resolve(
        self, pid: int, folder: int | None, path: str, *, follows_last: bool
    ) -> ResolvedPath:
        """Return the file that a process means.

        Args:
            pid: of the process, or of one of its threads.
            folder: the register with the descriptor that a relative path starts from; None for the
                working folder.
            path: as the process gave it; empty for the descriptor itself.
            follows_last: whether the call follows a link in the last part.

        Raises:
            OSError: when the process is gone, or its descriptor has no path.
        """
        if path.startswith(_DESCRIPTORS):
            return ResolvedPath(_readlink(f"/proc/{pid}/fd/{posixpath.basename(path)}"))
        if not path.startswith("/"):
            start = self._start(pid, folder)
            path = f"{start}/{path}" if path else start
        head, tail = posixpath.split(path.rstrip("/") or "/")
        if tail in {"", ".", ".."}:
            return ResolvedPath(*follow_links(path))
        parent, links = self._resolve_folder(head)
        whole = f"{parent.rstrip('/')}/{tail}"
        if not follows_last or not _is_link(whole):
            return ResolvedPath(whole, links)
        target, more = follow_links(whole)
        return ResolvedPath(target, (*links, *more))

    @staticmethod
    def _start(pid: int, folder: int | None) -> str:
        descriptor = _WORKING_FOLDER if folder is None else _sign(folder)
        if descriptor == _WORKING_FOLDER:
            return _readlink(f"/proc/{pid}/cwd")
        return _readlink(f"/proc/{pid}/fd/{descriptor}")

    def _resolve_folder(self, folder: str) -> tuple[str, tuple[str, ...]]:
        known = self._folders.get(folder)
        if known is None:
            if len(self._folders) >= _CACHED_FOLDERS_MAX:
                self._folders.clear()
            known = self._folders[folder] = follow_links(folder)
        return known


def follow_links(path: str, at: Callable[[str], str] | None = None) -> tuple[str, tuple[str, ...]]:
    """Return an absolute path without links, and those that were followed.

    By functions that nobody replaced, which ``os.path.realpath`` is not built on.

    Args:
        path: absolute.
        at: tells the path that a place has in an overlay; None without one.
    """
    links: list[str] = []
    done = ""
    waiting = [part for part in path.split("/") if part][::-1]
    while waiting:
        part = waiting.pop()
        if part == ".":
            continue
        if part == "..":
            done = posixpath.dirname(done) if done else ""
            done = "" if done == "/" else done
            continue
        here, target = f"{done}/{part}", ""
        there = here if at is None else at(here)
        if len(links) < _LINKS_MAX and _is_link(there):
            with suppress(OSError):  # it has gone since
                target = _readlink(there)
        if not target:
            done = here
            continue
        links.append(here)
        if target.startswith("/"):
            done = ""
        waiting += [piece for piece in target.split("/") if piece][::-1]
    return done or "/", tuple(links)


def _is_link(path: str) -> bool:
    try:
        return _lstat(path).st_mode & _KIND == _LINK
    except (OSError, ValueError):
        return False


def _sign(register: int) -> int:
    number = register & 0xFFFFFFFF
    return number - (1 << 32) if number >> 31 else number
