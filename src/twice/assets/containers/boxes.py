"""Boxes of ISO base media files: MP4, M4A, MOV, AVIF, HEIF.

Source: ISO/IEC 14496-12 (boxes, sample tables), 14496-14 (esds), 23008-12 (items).

Invariant: offsets only grow; a box never reaches beyond the one it lies in.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from twice.assets.containers.source import Source


@dataclass(frozen=True, slots=True)
class Box:
    """A box: its four letters, where its header begins, its contents, and whether they are all there."""

    name: str
    offset: int
    source: Source
    is_whole: bool


def boxes(source: Source, start: int = 0) -> Iterator[Box]:
    """Yield the boxes from an offset on, without the boxes inside them."""
    offset = start
    while offset + 8 <= source.size:
        size = source.number(offset, 4, big=True)
        name = source.read(offset + 4, 4).decode("latin-1")
        head = 8
        if size == 1:
            size, head = source.number(offset + 8, 8, big=True), 16
        elif size == 0:
            size = source.size - offset
        if size < head:
            return
        body = source.sub(offset + head, size - head)
        yield Box(name, offset, body, body.size == size - head)
        offset += size


def find(source: Source, *names: str) -> Source | None:
    """Return the first box at a path of names, or None."""
    at: Source | None = source
    for name in names:
        if at is None:
            return None
        at = next((box.source for box in boxes(at) if box.name == name), None)
    return at
