"""LZ4: frames as its tool writes them, and the blocks inside.

Source: LZ4 block format 1.6 and frame format 1.6 (lz4.org).

Invariant: a block never gives more than it is allowed to, whatever its lengths say.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from twice.assets.containers.source import Source

_HISTORY: Final = 1 << 16  # bytes before a block that it may copy from
_SHORTEST: Final = 4  # bytes that a copy has at least


def unframed(source: Source) -> Iterator[bytes]:
    """Unpack an LZ4 frame, block by block.

    Raises:
        ValueError: a block is damaged.
        EOFError: the frame is cut off.
    """
    flags, size_code = source.number(4, 1), source.number(5, 1) >> 4 & 7
    largest = 1 << 8 + 2 * max(size_code, 4)
    at = 7 + (8 if flags & 8 else 0) + (4 if flags & 1 else 0)
    history = b""
    while True:
        if at + 4 > source.size:
            raise EOFError("the compressed data are cut off")
        head = source.number(at, 4)
        if not head:
            return
        body = source.read(at + 4, head & 0x7FFFFFFF)
        plain = body if head >> 31 else unblocked(body, largest, history)
        if plain:
            yield plain
        history = (history + plain)[-_HISTORY:] if not flags & 0x20 else b""
        at += 4 + (head & 0x7FFFFFFF) + (4 if flags & 0x10 else 0)


def unblocked(data: bytes, largest: int, history: bytes = b"") -> bytes:
    """Unpack one block.

    Args:
        data: the block.
        largest: the most bytes that it may unpack to.
        history: the unpacked bytes before it.

    Raises:
        ValueError: the block is damaged, or unpacks to more.
    """
    out, at, end = bytearray(history), 0, len(data)
    most = len(history) + largest
    while at < end:
        token = data[at]
        count, at = _length(data, at + 1, token >> 4)
        if at + count > end or len(out) + count > most:
            raise ValueError("a block of LZ4 is damaged")
        out += data[at : at + count]
        at += count
        if at >= end:
            break
        back = int.from_bytes(data[at : at + 2], "little")
        count, at = _length(data, at + 2, token & 15)
        count += _SHORTEST
        if not 0 < back <= len(out) or len(out) + count > most:
            raise ValueError("a block of LZ4 is damaged")
        piece = bytes(out[-back:][:count])
        out += (piece * (count // len(piece) + 1))[:count]
    return bytes(out[len(history) :])


def _length(data: bytes, at: int, start: int) -> tuple[int, int]:
    """Read a length and the offset after it: four bits, then bytes until one is not 255."""
    count = start
    if start == 15:
        while True:
            more = data[at] if at < len(data) else 0
            count, at = count + more, at + 1
            if more != 255:
                break
    return count, at
