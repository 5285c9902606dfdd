"""Chunks of RIFF (WAV, WebP), RF64 and IFF (AIFF) files: four letters, a length, the bytes.

Source: Microsoft, Multimedia Programming Interface 1.0 (1991), RIFF; EBU Tech 3306 (RF64); Apple, AIFF-C (1991).

Invariant: offsets only grow, by eight bytes at least.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from twice.assets.containers.source import Source

_UNKNOWN_SIZE = 0xFFFFFFFF


@dataclass(frozen=True, slots=True)
class Chunk:
    """A chunk: its letters, where its header begins, its contents, and whether they are all there."""

    name: str
    offset: int
    source: Source
    is_whole: bool


def is_big_endian(source: Source) -> bool:
    """Whether lengths are big-endian: IFF, or the rare RIFX."""
    return source.read(0, 4) in {b"FORM", b"RIFX"}


def end_of_form(source: Source) -> int:
    """Where the outer chunk says that it ends; not beyond the source."""
    if source.read(0, 4) in {b"RF64", b"BW64"}:
        return source.size
    size = source.number(4, 4, big=is_big_endian(source))
    return source.size if size == _UNKNOWN_SIZE else min(8 + size + size % 2, source.size)


def chunks(source: Source, start: int = 12, *, big: bool | None = None) -> Iterator[Chunk]:
    """Yield the chunks from an offset to the end of the form."""
    order = is_big_endian(source) if big is None else big
    end = end_of_form(source) if start == 12 else source.size
    large = source.read(0, 4) in {b"RF64", b"BW64"}
    data_size = source.number(28, 8) if large and source.read(12, 4) == b"ds64" else 0
    offset = start
    while offset + 8 <= end:
        name = source.read(offset, 4).decode("latin-1")
        size = source.number(offset + 4, 4, big=order)
        if size == _UNKNOWN_SIZE and name == "data":
            size = data_size or end - offset - 8
        body = source.sub(offset + 8, size)
        yield Chunk(name, offset, body, body.size == size)
        offset += 8 + size + size % 2
