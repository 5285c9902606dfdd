"""Elements of Matroska and WebM files, and the frames in their blocks.

Source: RFC 8794 (EBML), RFC 9559 (Matroska).

Invariant: offsets only grow; an element of unknown size reaches to the end of the one it lies in.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from twice.assets.containers.source import Source
from twice.assets.media.sniff import Damaged

SEGMENT: Final = 0x18538067
CLUSTER: Final = 0x1F43B675
_TRACKS, _ENTRY, _GROUP, _BLOCK, _SIMPLE = 0x1654AE6B, 0xAE, 0xA0, 0xA1, 0xA3
_NUMBER, _CODEC, _PRIVATE, _AUDIO, _VIDEO = 0xD7, 0x86, 0x63A2, 0xE1, 0xE0
_RATE, _CHANNELS, _WIDTH, _HEIGHT = 0xB5, 0x9F, 0xB0, 0xBA
_LARGEST: Final = 64 << 20  # bytes of one block


@dataclass(frozen=True, slots=True)
class Element:
    """An element: its number, where its header begins, its contents, and whether they are all there."""

    number: int
    offset: int
    source: Source
    is_whole: bool


def elements(source: Source) -> Iterator[Element]:
    """Yield the elements of a level, without the elements inside them."""
    offset = 0
    while offset < source.size:
        head = source.read(offset, 12)
        number, width = variable(head, keep_mark=True)
        size, more = variable(head[width:]) if width else (0, 0)
        if not width or not more:
            return
        start = offset + width + more
        if size == (1 << 7 * more) - 1:
            size = source.size - start
        body = source.sub(start, size)
        yield Element(number, offset, body, body.size == size)
        offset = start + size


def variable(data: bytes, *, keep_mark: bool = False) -> tuple[int, int]:
    """Read a number of variable length; return it and its length, or zeros if there is none."""
    if not data or not data[0]:
        return 0, 0
    width = 9 - data[0].bit_length()
    if len(data) < width:
        return 0, 0
    value = int.from_bytes(data[:width], "big")
    return (value if keep_mark else value & (1 << 7 * width) - 1), width


@dataclass(frozen=True, slots=True)
class MatroskaTrack:
    """What a track says of its codec."""

    codec: str
    setup: bytes
    sample_rate: int
    channels: int
    width: int
    height: int


def matroska_tracks(source: Source) -> dict[int, MatroskaTrack]:
    """Return the tracks by their numbers."""
    found = {}
    for segment in _named(source, SEGMENT):
        for tracks in _named(segment, _TRACKS):
            for entry in _named(tracks, _ENTRY):
                fields = {each.number: each.source for each in elements(entry)}
                inner = Source.of_bytes(b"")
                audio = {each.number: each.source for each in elements(fields.get(_AUDIO, inner))}
                video = {each.number: each.source for each in elements(fields.get(_VIDEO, inner))}
                found[_unsigned(fields, _NUMBER)] = MatroskaTrack(
                    fields[_CODEC].read(0, 64).decode("latin-1") if _CODEC in fields else "",
                    fields[_PRIVATE].read(0, 1 << 20) if _PRIVATE in fields else b"",
                    _rate(audio),
                    _unsigned(audio, _CHANNELS) or 1,
                    _unsigned(video, _WIDTH),
                    _unsigned(video, _HEIGHT),
                )
    return found


def blocks(source: Source) -> Iterator[tuple[int, bytes]]:
    """Track number and frame, in file order.

    Raises:
        Damaged: a block is cut off or larger than any that is played.
    """
    for segment in _named(source, SEGMENT):
        for cluster in _named(segment, CLUSTER):
            for each in elements(cluster):
                if each.number == _SIMPLE:
                    yield from _frames(each)
                elif each.number == _GROUP:
                    for inner in elements(each.source):
                        if inner.number == _BLOCK:
                            yield from _frames(inner)


def _named(source: Source, number: int) -> Iterator[Source]:
    return (each.source for each in elements(source) if each.number == number)


def _unsigned(fields: dict[int, Source], number: int) -> int:
    return int.from_bytes(fields[number].read(0, 8), "big") if number in fields else 0


def _rate(audio: dict[int, Source]) -> int:
    import struct

    data = audio[_RATE].read(0, 8) if _RATE in audio else b""
    form = {4: ">f", 8: ">d"}.get(len(data))
    value = struct.unpack(form, data)[0] if form else 0.0
    return int(value) if 0 <= value < 1e9 else 0


def _frames(block: Element) -> Iterator[tuple[int, bytes]]:
    if not block.is_whole or block.source.size > _LARGEST:
        raise Damaged("a block is cut off or too large", block.offset)
    data = block.source.read()
    track, width = variable(data)
    if not width or len(data) < width + 3:
        raise Damaged("a block has no header", block.offset)
    lacing, body = data[width + 2] >> 1 & 3, data[width + 3 :]
    if not lacing:
        yield track, body
        return
    for frame in _unlaced(lacing, body, block.offset):
        yield track, frame


def _unlaced(lacing: int, body: bytes, offset: int) -> Iterator[bytes]:
    """Several frames in one block: Xiph (1), of one size (2), EBML (3)."""
    count, at = (body[0] + 1 if body else 0), 1
    sizes: list[int] = []
    if lacing == 2 and count:
        sizes = [(len(body) - 1) // count] * (count - 1)
    for _ in range(count - 1 if lacing != 2 else 0):
        if lacing == 1:
            size = 0
            while at < len(body):
                size, at = size + body[at], at + 1
                if body[at - 1] != 255:
                    break
        else:
            value, width = variable(body[at:])
            if not width:
                raise Damaged("the sizes of a laced block are cut off", offset)
            size = value if not sizes else sizes[-1] + value - ((1 << 7 * width - 1) - 1)
            at += width
        sizes.append(size)
    if min(sizes, default=0) < 0 or at + sum(sizes) > len(body):
        raise Damaged("the sizes of a laced block do not fit", offset)
    for size in sizes:
        yield body[at : at + size]
        at += size
    yield body[at:]
