"""Packets of Ogg streams, put together from their pages.

Source: RFC 3533 (Ogg), RFC 7845 (Opus), Xiph.Org Vorbis I specification.

Invariant: a packet is given whole or, beyond the limit, not at all; pages are looked for only where they belong.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from twice.assets.containers.source import Source
from twice.assets.media.sniff import Damaged

_LARGEST: Final = 64 << 20  # bytes of one packet; a comment with pictures is a few MiB


@dataclass(frozen=True, slots=True)
class Page:
    """A page: its stream, its flags, and the lengths of its segments."""

    offset: int
    serial: int
    flags: int
    granule: int
    segments: bytes

    @property
    def body(self) -> int:
        """Where the segments begin."""
        return self.offset + 27 + len(self.segments)

    @property
    def end(self) -> int:
        """Where the next page begins."""
        return self.body + sum(self.segments)


@dataclass(frozen=True, slots=True)
class Packet:
    """A packet: its stream, its place in that stream, where its first byte lies."""

    serial: int
    index: int
    offset: int
    data: bytes


@dataclass(slots=True)
class _Open:
    index: int = 0
    offset: int = 0
    parts: list[bytes] = field(default_factory=list)
    size: int = 0


def pages(source: Source) -> Iterator[Page]:
    """Yield the pages from the beginning until no page follows."""
    offset = 0
    while offset + 27 <= source.size:
        head = source.read(offset, 27)
        if head[:5] != b"OggS\0":
            return
        segments = source.read(offset + 27, head[26])
        granule = int.from_bytes(head[6:14], "little", signed=True)
        page = Page(offset, int.from_bytes(head[14:18], "little"), head[5], granule, segments)
        if page.end > source.size:
            raise Damaged("the last page of the Ogg stream is cut off", offset)
        yield page
        offset = page.end


def packets(source: Source) -> Iterator[Packet]:
    """Yield the packets of all streams, in the order in which they end.

    Raises:
        Damaged: a page is cut off, or a packet is larger than any that players accept.
    """
    streams: dict[int, _Open] = {}
    for page in pages(source):
        stream = streams.setdefault(page.serial, _Open())
        if not page.flags & 1:
            stream.parts, stream.size = [], 0
        body, at = source.read(page.body, page.end - page.body), 0
        for length in page.segments:
            if not stream.parts:
                stream.offset = page.body + at
            stream.parts.append(body[at : at + length])
            stream.size += length
            at += length
            if stream.size > _LARGEST:
                raise Damaged(f"a packet is larger than {_LARGEST >> 20} MiB", stream.offset)
            if length < 255:
                yield Packet(page.serial, stream.index, stream.offset, b"".join(stream.parts))
                stream.index, stream.parts, stream.size = stream.index + 1, [], 0
