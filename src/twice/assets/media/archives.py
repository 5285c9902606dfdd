"""Archives and compressed streams, opened within a budget.

``open_archive`` yields the members of zip, tar and 7z files, and of what is a zip underneath: EPUB, jar, office
documents. ``decompress`` undoes one compression. Solid archives of other programs (RAR, cabinets) are not opened, nor
is anything that is encrypted.

Invariant: what is unpacked in one scan never exceeds its budget, and what was unpacked before that is given; a
member's name never becomes a path on disk.
"""

from __future__ import annotations

import bz2
import io
import lzma
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, BinaryIO, Final, Protocol, cast

import zstandard

from twice.assets.media.sniff import load_library
from twice.errors import ExtraMissing

STEP: Final = 1 << 16  # bytes that go into a decoder at once
PIECE: Final = 1 << 20  # bytes that come out of it
_SPOOLED: Final = 4 << 20  # of one member in memory; the rest lies on disk
_MEMORY_MAX: Final = 256 << 20  # that a dictionary may take
_DIRECTORY_MAX: Final = 64 << 20  # of a zip file
_SOLID_MAX: Final = 256 << 20  # of all members of a 7z file, which its library unpacks at once
UNREADABLE: Final = "members"
"""The name of a member that stands for all that could not be read."""
DAMAGED: Final = (
    zlib.error,
    lzma.LZMAError,
    OSError,
    EOFError,
    ValueError,
    RuntimeError,
    MemoryError,
)
"""What decoders raise of damaged data; ``RuntimeError`` is LZ4's, and of encrypted members."""


@dataclass(slots=True)
class UnpackBudget:
    """What one scan may still use.

    Args:
        unpacked: bytes that may still come out of compressed data.
        parts: how many members may still be looked at.
    """

    unpacked: int = 1 << 30
    parts: int = 200_000

    def take(self, count: int) -> int:
        """Use up bytes; return how many of these are still allowed."""
        allowed = min(count, self.unpacked)
        self.unpacked -= allowed
        return allowed


@dataclass(frozen=True, slots=True)
class ArchiveMember:
    """A file inside another.

    Args:
        name: in the archive, or what it is.
        file: its bytes, as far as they could be unpacked; None if nothing could.
        why: why it was not opened, or not to its end; else empty.
    """

    name: str
    file: BinaryIO | None
    why: str = ""


class ByteRange(io.RawIOBase):
    """A range of a file, as a file of its own.

    Args:
        file: it must be seekable; several ranges may share it, in one thread.
        start: the first byte.
        size: how many bytes, at most.
        allowed: one number of bytes that all ranges share and use up; at 0, reads return nothing.
    """

    def __init__(
        self, file: BinaryIO, start: int, size: int, allowed: list[int] | None = None
    ) -> None:
        super().__init__()
        self._file, self._start, self._size = file, start, size
        self._allowed = [1 << 62] if allowed is None else allowed
        self._at = 0

    def readable(self) -> bool:
        """Return True."""
        return True

    def seekable(self) -> bool:
        """Return True."""
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Move to an offset, as files do."""
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size}[whence]
        self._at = max(base + offset, 0)
        return self._at

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer as far as the range and what is allowed go."""
        count = min(len(buffer), max(self._size - self._at, 0))
        self._allowed[0] -= count + 64  # A read costs something even when it is small.
        if self._allowed[0] <= 0:
            return 0
        self._file.seek(self._start + self._at)
        data = self._file.read(count)
        buffer[: len(data)] = data
        self._at += len(data)
        return len(data)


def size_of(file: BinaryIO) -> int:
    """Return how many bytes a file has."""
    return file.seek(0, io.SEEK_END)


def read_at(file: BinaryIO, offset: int, count: int) -> bytes:
    """Return bytes of a file, fewer where it ends."""
    file.seek(offset)
    return file.read(count)


class _Decoder(Protocol):
    """What ``bz2``, ``lzma`` and ``lz4.frame`` have in common."""

    @property
    def eof(self) -> bool: ...
    @property
    def needs_input(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, max_length: int) -> bytes: ...


class _Zlib:
    """The same interface for zlib, gzip and bare deflate."""

    def __init__(self, window: int) -> None:
        self._inner = zlib.decompressobj(window)
        self.needs_input = True

    @property
    def eof(self) -> bool:
        return self._inner.eof

    @property
    def unused_data(self) -> bytes:
        return self._inner.unused_data

    def decompress(self, data: bytes, max_length: int) -> bytes:
        out = self._inner.decompress(self._inner.unconsumed_tail + data, max_length)
        self.needs_input = not self._inner.unconsumed_tail and len(out) < max_length
        return out


class _Brotli:
    """The same interface for Brotli."""

    unused_data = b""

    def __init__(self) -> None:
        self._inner = load_library("brotli").Decompressor()

    @property
    def eof(self) -> bool:
        return bool(self._inner.is_finished())

    @property
    def needs_input(self) -> bool:
        return bool(self._inner.can_accept_more_data())

    def decompress(self, data: bytes, max_length: int) -> bytes:
        try:
            return bytes(self._inner.process(data, output_buffer_limit=max_length))
        except (
            Exception
        ) as error:  # Its own kind, which is not importable by name in every version.
            raise ValueError(f"brotli says: {error}") from error


class _Zstd:
    """The same interface for zstd, whose own has no limit: a block of four bytes may stand for 128 KiB."""

    def __init__(self) -> None:
        self._inner = zstandard.ZstdDecompressor(max_window_size=_MEMORY_MAX >> 1).decompressobj()
        self._rest = memoryview(b"")

    @property
    def eof(self) -> bool:
        return bool(self._inner.eof)

    @property
    def needs_input(self) -> bool:
        return not self._rest

    @property
    def unused_data(self) -> bytes:
        return bytes(self._inner.unused_data) + bytes(self._rest)

    def decompress(self, data: bytes, max_length: int) -> bytes:
        self._rest = memoryview(data) if data else self._rest
        piece = self._rest[: max_length >> 15]
        self._rest = self._rest[len(piece) :]
        try:
            return self._inner.decompress(piece)
        except zstandard.ZstdError as error:
            raise ValueError(str(error)) from error


def _make_lz4() -> _Decoder:
    return cast("_Decoder", load_library("lz4.frame").LZ4FrameDecompressor())


_DECODERS: Final[dict[str, Callable[[], _Decoder]]] = {
    "gzip": partial(_Zlib, 31),
    "zlib": partial(_Zlib, 15),
    "deflate": partial(_Zlib, -15),
    "bzip2": bz2.BZ2Decompressor,
    "xz": partial(lzma.LZMADecompressor, lzma.FORMAT_XZ, _MEMORY_MAX),
    "LZMA": partial(lzma.LZMADecompressor, lzma.FORMAT_ALONE, _MEMORY_MAX),
    "zstd": _Zstd,
    "LZ4": _make_lz4,
    "Brotli": _Brotli,
}


def decompress(codec: str, file: BinaryIO) -> Iterator[bytes]:
    """Yield the bytes of a compressed stream, of all its members if these follow each other.

    Args:
        codec: a name in this module's table.
        file: read from where it stands.

    Raises:
        ExtraMissing: E-EXTRA-001, the library of the codec is not installed.
        OSError, ValueError, EOFError, RuntimeError, zlib.error, lzma.LZMAError: it is damaged, or cut off.
    """
    data = file.read(STEP)
    head = data[:2]
    while data[:2] == head:
        decoder = _DECODERS[codec]()
        while not decoder.eof:
            if not data and decoder.needs_input and not (data := file.read(STEP)):
                raise EOFError("the compressed data are cut off")
            out, data = decoder.decompress(data, PIECE), b""
            if out:
                yield out
        data = (decoder.unused_data or file.read(STEP)).lstrip(b"\0")
        if len(head) < 2:
            return


def explain(error: Exception) -> str:
    """Return why a part of a file was not read, as a clause."""
    if isinstance(error, ExtraMissing):
        return f"{error.happened} {error.remedy}"
    return f"it cannot be read to its end: {str(error)[:120] or type(error).__name__}"


def unpack(name: str, pieces: Iterator[bytes], budget: UnpackBudget) -> ArchiveMember:
    """Return a member of unpacked bytes; it says why they are incomplete, if they are."""
    why = ""
    # Closed when nobody holds the member any more.
    spool = tempfile.SpooledTemporaryFile(max_size=_SPOOLED)  # noqa: SIM115
    try:
        for piece in pieces:
            allowed = budget.take(len(piece))
            spool.write(piece[:allowed])
            if allowed < len(piece):
                why = "it unpacks to more than the limit"
                break
    except (ExtraMissing, NotImplementedError, *DAMAGED) as error:
        why = explain(error)
    file = cast("BinaryIO", spool)
    return ArchiveMember(name, file if size_of(file) else None, why)


def open_archive(kind: str, file: BinaryIO, budget: UnpackBudget) -> Iterator[ArchiveMember]:
    """Yield the members of an archive.

    Args:
        kind: ``zip``, ``tar`` or ``7z``.
        file: the whole archive.
        budget: what may still be unpacked.
    """
    opener = {"zip": _open_zip, "tar": _open_tar, "7z": _open_7z}[kind]
    try:
        for member in opener(file, budget):
            budget.parts -= 1
            if budget.parts < 0:
                yield ArchiveMember(UNREADABLE, None, "there are more members than the limit")
                return
            yield member
    except Exception as error:  # noqa: BLE001 - A stranger's file makes these libraries raise nearly anything.
        yield ArchiveMember(UNREADABLE, None, explain(error))


def _open_zip(file: BinaryIO, budget: UnpackBudget) -> Iterator[ArchiveMember]:
    tail = read_at(file, max(size_of(file) - 65557, 0), 65557)
    end = tail.rfind(b"PK\x05\x06")
    if end >= 0 and int.from_bytes(tail[end + 12 : end + 16], "little") > _DIRECTORY_MAX:
        yield ArchiveMember(UNREADABLE, None, "there are more members than the limit")
        return
    archive = zipfile.ZipFile(file)
    notes = [archive.comment, *(each.comment + each.extra for each in archive.infolist())]
    yield unpack("comments", iter([b"\n".join(filter(None, notes))]), budget)
    for entry in archive.infolist():
        if entry.flag_bits & 1:
            yield ArchiveMember(entry.filename, None, "it is encrypted")
        elif not entry.is_dir():
            yield unpack(entry.filename, _read_zip_member(archive, entry), budget)


def _read_zip_member(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> Iterator[bytes]:
    with archive.open(entry) as member:
        while piece := member.read(PIECE):
            yield piece


def _open_tar(file: BinaryIO, budget: UnpackBudget) -> Iterator[ArchiveMember]:
    del budget  # A tar file compresses nothing.
    size = size_of(file)
    file.seek(0)
    with tarfile.open(fileobj=file, mode="r:") as archive:
        for entry in archive:
            if entry.isreg() and not entry.issparse():
                left = min(entry.size, max(size - entry.offset_data, 0))
                body = ByteRange(file, entry.offset_data, left)
                why = "it is cut off" if left < entry.size else ""
                yield ArchiveMember(entry.name, io.BufferedReader(body), why)


def _open_7z(file: BinaryIO, budget: UnpackBudget) -> Iterator[ArchiveMember]:
    library = load_library("py7zr")
    file.seek(0)
    with library.SevenZipFile(file, "r") as archive:
        if archive.needs_password():
            yield ArchiveMember(UNREADABLE, None, "it is encrypted")
            return
        size = sum(each.uncompressed for each in archive.list())
        if size > min(_SOLID_MAX, budget.unpacked):
            yield ArchiveMember(UNREADABLE, None, "it unpacks to more than the limit")
            return
        budget.take(size)
        factory = load_library("py7zr.io").BytesIOFactory(size)
        archive.extractall(factory=factory)  # noqa: S202 - into memory
    for name, made in factory.products.items():
        made.seek(0)
        yield ArchiveMember(name, cast("BinaryIO", io.BytesIO(made.read())))
