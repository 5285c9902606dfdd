"""Copies of files as they were before a run changed them, by digest, in a folder of the session's own.

A file system that shares blocks between files gives the copy for nothing; elsewhere it is one pass over
the file, in which the digest is made as well.

Invariant: a copy has the digest that it is kept under.
"""

from __future__ import annotations

import fcntl
import os
from contextlib import suppress

from twice.foundation.digests import Algorithm
from twice.recorder.kernel.file_history import FileState
from twice.recorder.kernel.file_observation import FileUnsettled, observe_state

_SHARE_BLOCKS = 0x40049409
_PIECE = 1 << 20


class PreimageStore:
    """A folder of copies.

    Args:
        folder: made when the first copy is taken; private to this account.
    """

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._count = 0

    def keep(self, path: str, algorithm: Algorithm, *, size: int | None = None) -> FileState:
        """Copy a file, or its first ``size`` bytes, and return the state of the copy.

        Raises:
            OSError: when the file cannot be read, or the folder takes no more.
            FileUnsettled: when it changes while it is copied.
        """
        os.makedirs(self._folder, mode=0o700, exist_ok=True)
        self._count += 1
        waiting = f"{self._folder}/.{self._count}"
        try:
            _copy(path, waiting, size)
            state = observe_state(waiting, algorithm, with_content=True)
            os.replace(waiting, self.path(state.digest))
        finally:
            with suppress(OSError):
                os.unlink(waiting)
        return state

    def path(self, digest: str) -> str:
        """Return the path of the copy with this digest."""
        return f"{self._folder}/{digest.rpartition(':')[2]}"


def _copy(source: str, target: str, size: int | None) -> None:
    reading = os.open(source, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        before = os.fstat(reading)
        writing = os.open(target, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            _copy_bytes(reading, writing, size)
        finally:
            os.close(writing)
        after = os.fstat(reading)
    finally:
        os.close(reading)
    if size is None and (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns):
        raise FileUnsettled(f"{source} changed while it was copied")


def _copy_bytes(reading: int, writing: int, size: int | None) -> None:
    if size is None:
        with suppress(OSError):
            fcntl.ioctl(writing, _SHARE_BLOCKS, reading)
            return
    at = 0
    while size is None or at < size:
        data = os.pread(reading, _PIECE if size is None else min(_PIECE, size - at), at)
        if not data:
            return
        os.pwrite(writing, data, at)
        at += len(data)
