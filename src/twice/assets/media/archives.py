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
from typing import Any, BinaryIO, Final, cast

import zstandard

from twice.assets.media.sniff import Damaged, decoding, load_library
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
    Damaged, zlib.error, lzma.LZMAError, zstandard.ZstdError, OSError, EOFError, ValueError, RuntimeError, MemoryError,
)  # fmt: skip
"""What decoders raise of damaged data; ``RuntimeError`` is LZ4's, and of encrypted members."""
_TOO_MANY: Final = "there are more members than the limit"
_TOO_LARGE: Final = "it unpacks to more than the limit"


@dataclass(slots=True)
class UnpackBudget:
    """What one scan may still use: bytes that come out of compressed data, and members that are looked at."""

    unpacked: int = 1 << 30
    parts: int = 200_000

    def take(self, count: int) -> int:
        """Use up bytes; return how many of these are still allowed."""
        allowed = min(count, self.unpacked)
        self.unpacked -= allowed
        return allowed


@dataclass(frozen=True, slots=True)
class ArchiveMember:
    """A file inside another, as far as it could be unpacked; None if nothing could, and why not to its end."""

    name: str
    file: BinaryIO | None
    why: str = ""


class ByteRange(io.RawIOBase):
    """A range of bytes of a seekable file, as a file of its own; several may share one file, in one thread.

    ``allowed`` is one number of bytes that all ranges share and use up; at 0, reads return nothing.
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
        data = read_at(self._file, self._start + self._at, count)
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


def _read_step(file: BinaryIO, count: int = STEP) -> bytes:
    if data := file.read(count):
        return data
    raise EOFError("the compressed data are cut off")


def _inflate(window: int, file: BinaryIO) -> Iterator[bytes]:
    inner = zlib.decompressobj(window)
    out = b""
    while not inner.eof:
        # A full piece of output may leave a rest inside that needs no more input.
        data = inner.unconsumed_tail or (b"" if len(out) == PIECE else _read_step(file))
        out = inner.decompress(data, PIECE)
        yield out
    file.seek(-len(inner.unused_data), io.SEEK_CUR)


def _decode_standard(make: Callable[[], Any], file: BinaryIO) -> Iterator[bytes]:
    """Yield what a decoder with the interface of ``bz2`` makes of a stream."""
    inner = make()
    while not inner.eof:
        yield inner.decompress(_read_step(file) if inner.needs_input else b"", PIECE)
    file.seek(-len(inner.unused_data or b""), io.SEEK_CUR)


def _decode_zstd(file: BinaryIO) -> Iterator[bytes]:
    inner = zstandard.ZstdDecompressor(max_window_size=_MEMORY_MAX >> 1).decompressobj()
    while not inner.eof:
        # Its output has no limit, and a block of four bytes may stand for 128 KiB.
        yield inner.decompress(_read_step(file, PIECE >> 15))
    file.seek(-len(inner.unused_data), io.SEEK_CUR)


def _decode_brotli(file: BinaryIO) -> Iterator[bytes]:
    inner = load_library("brotli").Decompressor()
    while not inner.is_finished():
        data = _read_step(file) if inner.can_accept_more_data() else b""
        with decoding("Brotli"):
            out = bytes(inner.process(data, output_buffer_limit=PIECE))
        yield out
    file.seek(0, io.SEEK_END)  # It does not say where it ended.


_DECODERS: Final[dict[str, Callable[[BinaryIO], Iterator[bytes]]]] = {
    "gzip": partial(_inflate, 31),
    "zlib": partial(_inflate, 15),
    "deflate": partial(_inflate, -15),
    "bzip2": partial(_decode_standard, bz2.BZ2Decompressor),
    "xz": partial(_decode_standard, lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ, _MEMORY_MAX)),
    "LZMA": partial(
        _decode_standard, lambda: lzma.LZMADecompressor(lzma.FORMAT_ALONE, _MEMORY_MAX)
    ),
    "LZ4": partial(_decode_standard, lambda: load_library("lz4.frame").LZ4FrameDecompressor()),
    "zstd": _decode_zstd,
    "Brotli": _decode_brotli,
}


def decompress(codec: str, file: BinaryIO) -> Iterator[bytes]:
    """Yield the bytes of a compressed stream that begins here, of all its members if these follow each other.

    The file is left behind them.

    Raises:
        ExtraMissing: E-EXTRA-001, the library of the codec is not installed.
        DAMAGED: it is damaged, or cut off.
    """
    start = file.tell()
    head = following = file.read(2)
    while following[:2] == head:
        file.seek(start)
        yield from _DECODERS[codec](file)
        following = file.read(512).lstrip(b"\0")
        start = file.tell() - len(following)
    file.seek(start)


def explain(error: Exception) -> str:
    """Return why a part of a file was not read, as a clause."""
    if isinstance(error, ExtraMissing):
        return f"{error.happened} {error.remedy}"
    return f"it cannot be read to its end: {str(error)[:120] or type(error).__name__}"


def unpack(name: str, pieces: Iterator[bytes], budget: UnpackBudget) -> ArchiveMember:
    """Return a member of unpacked bytes; it says why they are incomplete, if they are."""
    why = ""
    # Closed when nobody holds the member any more.
    spool = cast("BinaryIO", tempfile.SpooledTemporaryFile(max_size=_SPOOLED))  # noqa: SIM115
    try:
        for piece in pieces:
            allowed = budget.take(len(piece))
            spool.write(piece[:allowed])
            if allowed < len(piece):
                why = _TOO_LARGE
                break
    except (ExtraMissing, NotImplementedError, *DAMAGED) as error:
        why = explain(error)
    return ArchiveMember(name, spool if size_of(spool) else None, why)


def open_archive(kind: str, file: BinaryIO, budget: UnpackBudget) -> Iterator[ArchiveMember]:
    """Yield the members of an archive, which is ``zip``, ``tar`` or ``7z``."""
    opener = {"zip": _open_zip, "tar": _open_tar, "7z": _open_7z}[kind]
    file.seek(0)
    try:
        for member in opener(file, budget):
            budget.parts -= 1
            if budget.parts < 0:
                yield ArchiveMember(UNREADABLE, None, _TOO_MANY)
                return
            yield member
    except Exception as error:  # noqa: BLE001 - A stranger's file makes these libraries raise nearly anything.
        yield ArchiveMember(UNREADABLE, None, explain(error))


def _open_zip(file: BinaryIO, budget: UnpackBudget) -> Iterator[ArchiveMember]:
    tail = read_at(file, max(size_of(file) - 65557, 0), 65557)
    end = tail.rfind(b"PK\x05\x06")
    if end >= 0 and int.from_bytes(tail[end + 12 : end + 16], "little") > _DIRECTORY_MAX:
        yield ArchiveMember(UNREADABLE, None, _TOO_MANY)
        return

    def read(entry: zipfile.ZipInfo) -> Iterator[bytes]:
        with archive.open(entry) as member:
            yield from iter(partial(member.read, PIECE), b"")

    archive = zipfile.ZipFile(file)
    notes = [archive.comment, *(each.comment + each.extra for each in archive.infolist())]
    yield unpack("comments", iter([b"\n".join(filter(None, notes))]), budget)
    for entry in archive.infolist():
        if entry.flag_bits & 1:
            yield ArchiveMember(entry.filename, None, "it is encrypted")
        elif not entry.is_dir():
            yield unpack(entry.filename, read(entry), budget)


def _open_tar(file: BinaryIO, _: UnpackBudget) -> Iterator[ArchiveMember]:
    with tarfile.open(fileobj=file, mode="r:") as archive:
        for entry in archive:
            if entry.isreg() and not entry.issparse():
                left = min(entry.size, max(size_of(file) - entry.offset_data, 0))
                body = io.BufferedReader(ByteRange(file, entry.offset_data, left))
                yield ArchiveMember(entry.name, body, "it is cut off" if left < entry.size else "")


def _open_7z(file: BinaryIO, budget: UnpackBudget) -> Iterator[ArchiveMember]:
    with load_library("py7zr").SevenZipFile(file, "r") as archive:
        size = sum(each.uncompressed for each in archive.list())
        if archive.needs_password():
            yield ArchiveMember(UNREADABLE, None, "it is encrypted")
        elif size > min(_SOLID_MAX, budget.unpacked):
            yield ArchiveMember(UNREADABLE, None, _TOO_LARGE)
        else:
            budget.take(size)
            factory = load_library("py7zr.io").BytesIOFactory(size)
            archive.extractall(factory=factory)  # noqa: S202 - into memory
            for name, made in factory.products.items():
                made.seek(0)
                yield ArchiveMember(name, io.BytesIO(made.read()))
