"""Copies of files: as they were before a run changed them, by digest, or as a replay shows and leaves them.

A file system that shares blocks between files gives a copy for nothing; elsewhere it is one pass over the file.

Invariant: a kept copy has the digest that it is kept under.
"""

from __future__ import annotations

import errno
import fcntl
import os
import stat
from contextlib import suppress

from twice.foundation.digests import Algorithm
from twice.recorder.kernel.file_state import (
    FileState,
    FileUnsettled,
    closing_descriptor,
    observe_state,
    open_for_reading,
)

WRITE_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
_SHARE_BLOCKS = 0x40049409
_CANNOT_SHARE = frozenset({errno.EXDEV, errno.EINVAL, errno.EOPNOTSUPP, errno.ENOSYS})
_PIECE, _SMALL = 1 << 24, 1 << 20


class ContentStore:
    """A folder of the session's own with copies by digest, private to this account; made for the first copy."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self._count = 0

    def keep(self, path: str, algorithm: Algorithm, *, size: int | None = None) -> FileState:
        """Copy a file, or its first ``size`` bytes, and return the state of the copy.

        An ``OSError`` says that the folder takes no more, or the file cannot be read, ``FileUnsettled`` that it
        changes.
        """
        os.makedirs(self.folder, mode=0o700, exist_ok=True)
        self._count += 1
        waiting = f"{self.folder}/.{self._count}"
        try:
            _copy_whole(path, waiting, size)
            state = observe_state(waiting, algorithm, with_content=True)
            os.replace(waiting, self.path(state.digest))
        finally:
            with suppress(OSError):
                os.unlink(waiting)
        return state

    def path(self, digest: str) -> str:
        """Return the path of the copy with this digest."""
        return f"{self.folder}/{digest.rpartition(':')[2]}"


def _copy_whole(source: str, target: str, size: int | None) -> None:
    with closing_descriptor(open_for_reading(source)) as reading:
        before = os.fstat(reading)
        if not stat.S_ISREG(before.st_mode):
            raise FileUnsettled(f"{source} became another kind of file")
        with closing_descriptor(os.open(target, WRITE_NEW, 0o600)) as writing:
            if size is not None:
                copy_bytes(reading, writing, size)
            else:
                try:
                    fcntl.ioctl(writing, _SHARE_BLOCKS, reading)
                except OSError:
                    copy_bytes(reading, writing, before.st_size)
        after = os.fstat(reading)
    if size is None and (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns):
        raise FileUnsettled(f"{source} changed while it was copied")


def copy_content(source: str, writing: int, size: int) -> None:
    """Copy the first bytes of a file into an open, empty one; an ``OSError`` where it has fewer."""
    with closing_descriptor(open_for_reading(source)) as reading:
        if copy_bytes(reading, writing, size) < size:
            raise OSError(errno.EIO, "the file became shorter while it was copied", source)


def copy_bytes(reading: int, writing: int, size: int) -> int:
    """Copy the first bytes of an open file, as many as there are; return their number."""
    at, can_share = 0, True
    while at < size:
        count = min(size - at, _PIECE)
        if can_share and count > _SMALL:
            try:
                copied = os.copy_file_range(reading, writing, count, at, at)
            except OSError as error:
                if error.errno not in _CANNOT_SHARE:
                    raise
                can_share = False
                continue
        else:
            copied = os.pwrite(writing, os.pread(reading, min(count, _SMALL), at), at)
        if not copied:
            break
        at += copied
    return at
