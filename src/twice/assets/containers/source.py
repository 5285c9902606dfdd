"""Bytes that are read where they lie: a file, a range of one, or what was unpacked.

Only what is asked for is in memory. What is unpacked goes to a spool that is kept on disk once it is large.

Invariant: a read never goes beyond its source, and gives less, never an error, where the source ends.
"""

from __future__ import annotations

import io
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO, Final, cast

PIECE: Final = 1 << 20  # bytes that are in memory at once
_SPOOLED: Final = 4 << 20  # of one unpacked part in memory; the rest lies on disk


class Source:
    """A range of a file.

    Args:
        file: it must be seekable; several sources may share it, in one thread.
        start: the first byte, as the file counts.
        size: how many bytes; not more than there are.
    """

    __slots__ = ("_file", "_start", "size")

    def __init__(self, file: BinaryIO, start: int, size: int) -> None:
        self._file = file
        self._start = start
        self.size = max(size, 0)

    @classmethod
    def of_bytes(cls, data: bytes) -> Source:
        """Bytes in memory."""
        return cls(io.BytesIO(data), 0, len(data))

    @classmethod
    def of_file(cls, file: BinaryIO) -> Source:
        """Make a source of a whole open file."""
        return cls(file, 0, file.seek(0, io.SEEK_END))

    @classmethod
    def spooled(cls, pieces: Iterable[bytes]) -> Source:
        """Make a source of unpacked bytes, which stay in memory while they are few."""
        # Closed when nobody holds the source any more.
        file = tempfile.SpooledTemporaryFile(max_size=_SPOOLED)  # noqa: SIM115
        size = 0
        for piece in pieces:
            size += file.write(piece)
        return cls(cast("BinaryIO", file), 0, size)

    def read(self, offset: int = 0, count: int | None = None) -> bytes:
        """Read bytes, fewer if the source ends before.

        Args:
            offset: from the beginning of this source; nothing lies before 0.
            count: the number of bytes; None means all that follow.
        """
        left = self.size - offset
        if offset < 0 or left <= 0:
            return b""
        wanted = left if count is None else min(count, left)
        if wanted <= 0:
            return b""
        self._file.seek(self._start + offset)
        return self._file.read(wanted)

    def sub(self, offset: int, size: int | None = None) -> Source:
        """Return a range of this source, cut to its end."""
        offset = min(max(offset, 0), self.size)
        left = self.size - offset
        return Source(self._file, self._start + offset, left if size is None else min(size, left))

    def pieces(self, size: int = PIECE) -> Iterator[bytes]:
        """All bytes in turn."""
        for offset in range(0, self.size, size):
            yield self.read(offset, size)

    def number(self, offset: int, width: int, *, big: bool = False) -> int:
        """Read an unsigned integer of ``width`` bytes; bytes after the end count as zero."""
        data = self.read(offset, width)
        return int.from_bytes(data.ljust(width, b"\0"), "big" if big else "little")

    def metered(self, allowed: list[int]) -> Source:
        """Return a source of the same bytes that allows a limited number of bytes to be read.

        Args:
            allowed: one number that all sources share and use up; at 0, reads return no bytes.
        """
        return Source(cast("BinaryIO", _Meter(self._file, allowed)), self._start, self.size)

    def as_file(self) -> BinaryIO:
        """Return the source as a file that libraries can read and seek."""
        return io.BufferedReader(_Reader(self))


class _Meter:
    """A file of which a bounded number of bytes is read."""

    def __init__(self, file: BinaryIO, allowed: list[int]) -> None:
        self._file, self._allowed = file, allowed

    def seek(self, offset: int) -> int:
        return self._file.seek(offset)

    def read(self, count: int) -> bytes:
        # A read costs something even when it is small.
        self._allowed[0] -= count + 64
        return self._file.read(count) if self._allowed[0] > 0 else b""


class _Reader(io.RawIOBase):
    def __init__(self, source: Source) -> None:
        super().__init__()
        self._source = source
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._source.size}[whence]
        self._at = max(base + offset, 0)
        return self._at

    def readinto(self, buffer: object) -> int:
        view = memoryview(buffer).cast("B")  # type: ignore[arg-type]
        data = self._source.read(self._at, len(view))
        view[: len(data)] = data
        self._at += len(data)
        return len(data)


def whole_file(path: Path) -> Source:
    """Open a file on disk; it closes when nothing refers to the source any more."""
    return Source.of_file(path.open("rb"))
