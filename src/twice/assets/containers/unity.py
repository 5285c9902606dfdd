"""Parts of Unity asset bundles (UnityFS), whose blocks are packed by LZ4 or LZMA.

Source: the layout that UnityPy and AssetStudio read; there is no published specification.

Invariant: a block gives no more than its table says, and that within the budget.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from twice.assets.containers.lz4 import unblocked
from twice.assets.containers.parts import Kind, Part
from twice.assets.containers.source import Source
from twice.assets.containers.unmarked import unlzmaed
from twice.assets.containers.unpacking import Budget, unpacked
from twice.assets.media.sniff import Damaged

_WAY: Final = 0x3F  # bits of the flags that say how a block is packed
_LZMA: Final = 1
_LZ4: Final = (2, 3)
_AT_END: Final = 0x80
_LARGEST: Final = 64 << 20  # of the table, and of one block
_TEXT: Final = 256  # bytes a version takes at most


def unity(source: Source, budget: Budget) -> Iterator[Part]:
    """Yield the contents of the blocks of a bundle, one after another, as one file."""
    version, at = source.number(8, 4, big=True), 12
    for _ in range(2):
        at += source.read(at, _TEXT).find(b"\0") + 1
    packed, plain, flags = (source.number(at + 8 + 4 * each, 4, big=True) for each in range(3))
    at += 20
    if version >= 7:
        at += -at % 16
    place = source.size - packed if flags & _AT_END else at
    if max(packed, plain) > _LARGEST:
        raise Damaged("the table of blocks is larger than the limit", at)
    table = b"".join(_block(source.sub(place, packed), plain, flags))
    yield Part("table", Kind.CODE, Source.of_bytes(table), None)
    start = at if flags & _AT_END else at + packed
    yield from unpacked("blocks", Kind.FILE, _blocks(source, start, table), budget)


def _blocks(source: Source, start: int, table: bytes) -> Iterator[bytes]:
    for number in range(int.from_bytes(table[16:20], "big")):
        entry = table[20 + 10 * number : 30 + 10 * number]
        if len(entry) < 10 or start >= source.size:
            raise EOFError("the blocks are cut off")
        plain, packed = int.from_bytes(entry[:4], "big"), int.from_bytes(entry[4:8], "big")
        body = source.sub(start, packed)
        yield from _block(body, min(plain, _LARGEST), int.from_bytes(entry[8:], "big"))
        start += packed


def _block(body: Source, plain: int, flags: int) -> Iterator[bytes]:
    """Unpack one block.

    Raises:
        ValueError: the block is damaged, or packed in an unknown way.
    """
    way = flags & _WAY
    if not way:
        yield from body.pieces()
    elif way in _LZ4:
        yield unblocked(body.read(0, _LARGEST), plain)
    elif way == _LZMA:
        yield from unlzmaed(body, plain)
    else:
        raise ValueError(f"a block is packed in a way of number {way}")
