"""What happens to the files below a folder: written and closed, moved into place, read.

The kernel reports them, whatever language a process is written in. A folder that is made and filled before the watch
on it has begun may lack events of its first files.

Not for: what was written, and by whom.

Invariant: events stand in the order in which they came to pass.
"""

from __future__ import annotations

import ctypes
import errno
import os
import select
import struct
import sys
from collections.abc import Mapping
from operator import attrgetter
from pathlib import Path
from typing import Final, Literal, NamedTuple

from twice.foundation.with_blocks import Closing
from twice.recorder.kernel.libc import library

_MODIFY, _CLOSE_WRITE, _CLOSE_NOWRITE, _MOVED_TO, _CREATE = 0x2, 0x8, 0x10, 0x80, 0x100
_IS_FOLDER, _ONLY_FOLDER = 0x40000000, 0x1000000
_MASK: Final = _MODIFY | _CLOSE_WRITE | _CLOSE_NOWRITE | _MOVED_TO | _CREATE | _ONLY_FOLDER
_HEADER: Final = struct.Struct("iIII")
_READ_BYTES: Final = 1 << 16

Kind = Literal["closed", "moved", "read", "changed"]

_KINDS: Final[Mapping[int, Kind]] = {
    _CLOSE_WRITE: "closed",
    _CLOSE_NOWRITE: "read",
    _MOVED_TO: "moved",
    _CREATE: "changed",
    _MODIFY: "changed",
}


class FileEvent(NamedTuple):
    """One event: ``closed`` by who could write, ``moved`` into place, ``read`` and closed, or ``changed``.

    The path is relative to the folder.
    """

    kind: Kind
    path: str


class FileEvents(Closing):
    """Watches a folder and all folders in it, those that are made later too; a context manager.

    Raises:
        OSError: the system has no such events, or gives no more watches.
    """

    def __init__(self, folder: Path) -> None:
        if not sys.platform.startswith("linux"):
            raise OSError(errno.ENOSYS, "only Linux reports closed files")
        self._calls = library()
        self._descriptor = self._check(self._calls.inotify_init1(os.O_CLOEXEC | os.O_NONBLOCK))
        self._root = folder
        self._folders: dict[int, Path] = {}
        self._watch(folder)

    def wait(self, timeout_s: float | None) -> list[FileEvent]:
        """Wait for the next events; none where nothing came in time."""
        poll = select.poll()
        poll.register(self._descriptor, select.POLLIN)
        if not poll.poll(None if timeout_s is None else timeout_s * 1000):
            return []
        return self._parse(os.read(self._descriptor, _READ_BYTES))

    def close(self) -> None:
        """End the watch."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1

    def _parse(self, data: bytes) -> list[FileEvent]:
        found: list[FileEvent] = []
        at = 0
        while at < len(data):
            watch, mask, _, size = _HEADER.unpack_from(data, at)
            at += _HEADER.size
            name = os.fsdecode(data[at : at + size].rstrip(b"\0"))
            at += size
            folder = self._folders.get(watch)
            if folder is None or not name:
                continue
            path = folder / name
            if mask & _IS_FOLDER:
                if mask & (_CREATE | _MOVED_TO):
                    found += self._watch(path)
                continue
            kind = next(kind for bit, kind in _KINDS.items() if mask & bit)
            found.append(FileEvent(kind, str(path.relative_to(self._root))))
        return found

    def _watch(self, folder: Path) -> list[FileEvent]:
        """Watch a folder; return the files that were there before the watch, all as changed."""
        try:
            path = ctypes.c_char_p(os.fsencode(folder))
            watch = self._check(self._calls.inotify_add_watch(self._descriptor, path, _MASK))
        except FileNotFoundError:  # it was removed in between
            return []
        self._folders[watch] = folder
        found: list[FileEvent] = []
        for entry in sorted(os.scandir(folder), key=attrgetter("name")):
            if entry.is_dir(follow_symlinks=False):
                found += self._watch(folder / entry.name)
            else:
                found.append(
                    FileEvent("changed", str((folder / entry.name).relative_to(self._root)))
                )
        return found

    @staticmethod
    def _check(result: int) -> int:
        if result < 0:
            code = ctypes.get_errno()
            raise OSError(code, os.strerror(code))
        return result
