"""What is taken out of MP4, MOV, M4A, Matroska and WebM files: overwritten where it lies, so that no offset moves.

Invariant: the copy is as long as the original, but for bytes after its end.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from twice.assets.containers import ebml
from twice.assets.containers.boxes import Box, boxes
from twice.assets.containers.films import MP4_FOLDERS, MP4_STRUCTURE
from twice.assets.containers.parts import Damaged
from twice.assets.containers.source import Source

_TIMES = frozenset({"mvhd", "tkhd", "mdhd"})
_EMPTIED = frozenset({"udta", "meta", "uuid", "free", "skip", "wide"})
_LEVELS = 12


@dataclass(frozen=True, slots=True)
class Patch:
    """Bytes that take the place of others."""

    offset: int
    data: bytes


def mp4(source: Source) -> Iterator[bytes]:
    """Yield an MP4 file with zeros for its tags, names and times.

    Raises:
        Damaged: a box is cut off.
    """
    patches: list[Patch] = []
    end = 0
    for box in boxes(source):
        if not box.is_whole:
            raise Damaged(f"the box {box.name} is cut off", box.offset)
        patches += _box(box, box.offset, source, 0)
        end = box.offset + _head(box.offset, source) + box.source.size
    yield from _patched(source.sub(0, end), patches)


def _head(offset: int, source: Source) -> int:
    return 16 if source.number(offset, 4, big=True) == 1 else 8


def _box(box: Box, base: int, source: Source, level: int) -> Iterator[Patch]:
    inside = base + _head(base, source)
    if box.name == "mdat" or level > _LEVELS:
        return
    if box.name in _EMPTIED or (
        box.name not in MP4_FOLDERS | MP4_STRUCTURE | {"stsd", "hdlr"} and box.name.isprintable()
    ):
        yield Patch(base + 4, b"free")
        yield Patch(inside, bytes(box.source.size))
    elif box.name in MP4_FOLDERS:
        for each in boxes(box.source):
            yield from _box(each, inside + each.offset, source, level + 1)
    elif box.name in _TIMES:
        yield Patch(inside + 4, bytes(16 if box.source.number(0, 1) == 1 else 8))
    elif box.name == "hdlr":
        yield Patch(inside + 24, bytes(max(box.source.size - 24, 0)))
    elif box.name == "stsd":
        for entry in boxes(box.source, 8):
            if entry.name in {
                "avc1",
                "avc3",
                "hvc1",
                "hev1",
                "av01",
                "vp09",
                "mp4v",
                "apcn",
                "jpeg",
            }:
                yield Patch(inside + entry.offset + 8 + 42, bytes(32))  # The coder's name.


_VOIDED = frozenset({0x1254C367, 0x1941A469, 0xBF, 0x4461, 0xEC, 0x7BA9, 0x536E, 0x7384})
_BLANKED = frozenset({0x4D80, 0x5741})  # names of the programs: required, so they stay, empty
_SEEK, _SEEK_ID, _SEEK_HEAD = 0x4DBB, 0x53AB, 0x114D9B74
_FOLDERS = frozenset({ebml.SEGMENT, 0x1549A966, 0x1654AE6B, 0xAE, _SEEK_HEAD})
_GONE = (b"\x12\x54\xc3\x67", b"\x19\x41\xa4\x69")


def matroska(source: Source) -> Iterator[bytes]:
    """Yield a Matroska file without tags, attachments, titles and the names of programs."""
    patches: list[Patch] = []
    for element in ebml.elements(source):
        patches += _element(element, element.offset, source)
    yield from _patched(source, patches)


def _element(element: ebml.Element, base: int, source: Source) -> Iterator[Patch]:
    if not element.is_whole:
        raise Damaged("an element is cut off", base)
    head = source.read(base, 12)
    _, width = ebml.variable(head, keep_mark=True)
    _, more = ebml.variable(head[width:])
    inside = base + width + more
    stale = element.number == _SEEK and any(
        each.number == _SEEK_ID and each.source.read(0, 4) in _GONE
        for each in ebml.elements(element.source)
    )
    if element.number in _VOIDED or stale:
        yield Patch(base, _void(width + more + element.source.size))
    elif element.number in _BLANKED:
        yield Patch(inside, bytes(element.source.size))
    elif element.number in _FOLDERS:
        for each in ebml.elements(element.source):
            yield from _element(each, inside + each.offset, source)


def _void(size: int) -> bytes:
    """Make an empty element of a given size."""
    if size < 9:
        return bytes([0xEC, 0x80 | size - 2]) + bytes(size - 2)
    return b"\xec\x01" + (size - 9).to_bytes(7, "big") + bytes(size - 9)


def _patched(source: Source, patches: list[Patch]) -> Iterator[bytes]:
    at = 0
    for patch in sorted(patches, key=lambda each: each.offset):
        yield from source.sub(at, patch.offset - at).pieces()
        data = patch.data[: max(source.size - patch.offset, 0)]
        yield data
        at = patch.offset + len(data)
    yield from source.sub(at).pieces()
