"""Bytes in the coded pixels of a PNG file that no pixel is made of.

They stand after the end of the compressed stream, or after the last row in it. No decoder shows them.

Source: W3C PNG, third edition, sections 8 (interlacing) and 10 (compression).

Invariant: never more than the pixels and ``LONGEST`` bytes are inflated, and no pixel is kept.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from typing import Final

from twice.assets.containers.source import Source

LONGEST: Final = 1 << 20
"""Bytes of it that are given."""

_STEP: Final = 1 << 16
_HEAD: Final = 8 + 8  # bytes before the contents of the first chunk
_SAMPLES: Final = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}  # by colour type
_PASSES: Final = (
    (0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2),
)  # fmt: skip


def behind_pixels(source: Source, coded: Iterable[Source]) -> bytes:
    """Return the surplus of the coded pixels, behind the last row; b"" if they are damaged.

    Args:
        source: the whole file.
        coded: the contents of its IDAT chunks.
    """
    expected = _size(source)
    decoder, made, found = zlib.decompressobj(), 0, bytearray()
    try:
        for piece in (piece for body in coded for piece in body.pieces(_STEP)):
            if decoder.eof:
                found += piece
            data = b"" if decoder.eof else piece
            while data:
                out = decoder.decompress(data, 1 << 20)
                made += len(out)
                found += out[-(made - expected) :] if made > expected else b""
                found += decoder.unused_data
                data = decoder.unconsumed_tail
            if len(found) > LONGEST:
                break
    except zlib.error:
        return b""
    return bytes(found[:LONGEST])


def _size(source: Source) -> int:
    """How many bytes the rows of the picture take, with the filter byte of each."""
    width, height = source.number(_HEAD, 4, big=True), source.number(_HEAD + 4, 4, big=True)
    depth, colour = source.number(_HEAD + 8, 1), source.number(_HEAD + 9, 1)
    bits = depth * _SAMPLES.get(colour, 4)

    def rows(wide: int, high: int) -> int:
        return high * (1 + (wide * bits + 7) // 8) if wide > 0 and high > 0 else 0

    if not source.number(_HEAD + 12, 1):
        return rows(width, height)
    return sum(
        rows((width - x + across - 1) // across, (height - y + down - 1) // down)
        for x, y, across, down in _PASSES
    )
