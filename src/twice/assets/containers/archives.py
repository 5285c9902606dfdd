"""Members of zip, tar, gzip, bzip2, xz, zstd and LZ4 files, and of what is a zip underneath: EPUB, jar, office documents.

Source: PKWARE APPNOTE 6.3.10; POSIX.1-2001 pax; RFC 1952.

Invariant: a member is unpacked within the budget or reported; its name never becomes a path on disk.
"""

from __future__ import annotations

import tarfile
import zipfile
from collections.abc import Iterator
from typing import Final

from twice.assets.containers.lz4 import unframed
from twice.assets.containers.parts import Kind, Part, unread
from twice.assets.containers.pictures import after
from twice.assets.containers.source import PIECE, Source
from twice.assets.containers.unpacking import (
    Budget,
    gunzipped,
    inflated,
    unpacked,
    unpacked_bzip2,
    unpacked_xz,
    unpacked_zstd,
)
from twice.assets.media.sniff import Damaged

_MOST_MEMBERS: Final = 100_000
_LARGEST_DIRECTORY: Final = 64 << 20
_USUAL_EXTRAS: Final = frozenset(
    [0x0001, 0x000A, 0x5455, 0x5855, 0x7075, 0x7855, 0x7875, 0x9901, 0xCAFE]
)
_SMALLEST_GAP: Final = 32  # bytes between members; a data descriptor takes 24


def zipped(source: Source, budget: Budget) -> Iterator[Part]:
    """Yield the members of a zip file, its comments, and the bytes between and around them."""
    end = _end_record(source)
    if (
        source.number(end + 10, 2) > _MOST_MEMBERS
        or source.number(end + 12, 4) > _LARGEST_DIRECTORY
    ):
        yield unread("members", "there are more members than the limit")
        return
    try:
        file = zipfile.ZipFile(source.as_file())
    except (zipfile.BadZipFile, NotImplementedError, ValueError) as error:
        raise Damaged(f"the zip directory cannot be read: {error}") from error
    members = sorted(file.infolist(), key=lambda each: each.header_offset)
    if file.comment:
        yield Part("comment", Kind.METADATA, Source.of_bytes(file.comment), None, "comment")
    at = 0
    for member in members:
        if member.header_offset - at >= _SMALLEST_GAP:
            gap = source.sub(at, member.header_offset - at)
            yield from after(gap, 0)
        if member.comment:
            said = Source.of_bytes(member.comment)
            yield Part(f"{member.filename} comment", Kind.METADATA, said, None, "comment")
        yield from _extra(member)
        if not member.is_dir():
            yield from _member(file, member, budget)
        named = source.number(member.header_offset + 26, 2)
        extra = source.number(member.header_offset + 28, 2)
        at = member.header_offset + 30 + named + extra + member.compress_size
    if file.start_dir - at >= _SMALLEST_GAP:
        yield from after(source.sub(at, file.start_dir - at), 0)
    yield from after(source, end + 22 + source.number(end + 20, 2))


def _end_record(source: Source) -> int:
    """Where the end record is: looked for from the end, in the last 64 KiB."""
    start = max(source.size - 65557, 0)
    at = source.read(start, 65557).rfind(b"PK\x05\x06")
    if at < 0:
        raise Damaged("the zip directory is missing; the file may be cut off")
    return start + at


def _extra(member: zipfile.ZipInfo) -> Iterator[Part]:
    """Further fields of a member that are neither sizes, times, owners nor another form of its name."""
    data, at = member.extra, 0
    while at + 4 <= len(data):
        number = int.from_bytes(data[at : at + 2], "little")
        size = int.from_bytes(data[at + 2 : at + 4], "little")
        body = data[at + 4 : at + 4 + size]
        if number not in _USUAL_EXTRAS and body.strip(b"\0"):
            name = f"{member.filename} extra {number:04x}"
            yield Part(name, Kind.METADATA, Source.of_bytes(body), None, "extra")
        at += 4 + size


def _member(file: zipfile.ZipFile, member: zipfile.ZipInfo, budget: Budget) -> Iterator[Part]:
    if member.flag_bits & 1:
        yield unread(member.filename, "it is encrypted")
        return

    def pieces() -> Iterator[bytes]:
        try:
            with file.open(member) as stream:
                while piece := stream.read(PIECE):
                    yield piece
        except (zipfile.BadZipFile, NotImplementedError, RuntimeError) as error:
            raise ValueError(str(error)) from error

    yield from unpacked(member.filename, Kind.FILE, pieces(), budget, key="name")


def tarred(source: Source, budget: Budget) -> Iterator[Part]:
    """Yield the members of a tar file and their extended headers."""
    try:
        with tarfile.open(fileobj=source.as_file(), mode="r:") as file:
            for count, member in enumerate(file):
                if count >= min(_MOST_MEMBERS, budget.parts):
                    yield unread("members", "there are more members than the limit")
                    return
                for key, value in member.pax_headers.items():
                    said = Source.of_bytes(str(value).encode("utf-8", "replace"))
                    yield Part(f"{member.name} pax {key}", Kind.METADATA, said, None, key)
                if member.isreg() and not member.issparse():
                    body = source.sub(member.offset_data, member.size)
                    yield Part(member.name, Kind.FILE, body, member.offset_data, "name")
                    if body.size < member.size:
                        yield unread(member.name, "it is cut off", member.offset_data)
    except tarfile.TarError as error:
        raise Damaged(f"the tar file cannot be read: {error}") from error


def gzipped(source: Source, budget: Budget) -> Iterator[Part]:
    """Yield the contents of a gzip file, and the name and comment in its header."""
    flags, at = source.number(3, 1), 10
    if flags & 4:
        size = source.number(at, 2)
        yield Part("extra", Kind.METADATA, source.sub(at + 2, size), at + 2, "extra")
        at += 2 + size
    for bit, key in ((8, "name"), (16, "comment")):
        if flags & bit:
            said = source.read(at, 1 << 12).partition(b"\0")[0]
            yield Part(f"gzip {key}", Kind.METADATA, source.sub(at, len(said)), at, key)
            at += len(said) + 1
    yield from unpacked("gzip", Kind.FILE, gunzipped(source), budget)


def zlibbed(source: Source, budget: Budget) -> Iterator[Part]:
    """Yield the contents of a zlib stream."""
    yield from unpacked("zlib", Kind.FILE, inflated(source), budget)


def bzipped(source: Source, budget: Budget) -> Iterator[Part]:
    """Yield the contents of a bzip2 file."""
    yield from unpacked("bzip2", Kind.FILE, unpacked_bzip2(source), budget)


def xzipped(source: Source, budget: Budget) -> Iterator[Part]:
    """Yield the contents of an xz file."""
    yield from unpacked("xz", Kind.FILE, unpacked_xz(source), budget)


def zstandard(source: Source, budget: Budget) -> Iterator[Part]:
    """Yield the contents of a zstd file."""
    yield from unpacked("zstd", Kind.FILE, unpacked_zstd(source), budget)


def lz4(source: Source, budget: Budget) -> Iterator[Part]:
    """Yield the contents of an LZ4 frame."""
    yield from unpacked("LZ4", Kind.FILE, unframed(source), budget)


def unknown(source: Source, budget: Budget) -> Iterator[Part]:
    """Report an archive that twice does not unpack: 7z, RAR, those of Windows."""
    del source, budget
    yield unread(
        "members", "archives of this kind are not unpacked; publish a zip, or scan before packing"
    )
