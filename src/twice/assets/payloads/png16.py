"""PNG of 16 bits a channel, unpacked without rounding.

Source: W3C, Portable Network Graphics, third edition, 7 (interlacing), 9 (filtering), 10 (compression).

Invariant: every row is red, green, blue, alpha, 16 bits each, big-endian.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator

import numpy as np

from twice.assets.containers.parts import Damaged
from twice.assets.containers.source import Source

_PASSES = (
    (0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2),
)  # fmt: skip
_CHANNELS = {0: 1, 2: 3, 4: 2, 6: 4}
_LARGEST = 1 << 28  # pixels; more is refused, as pillow does


def is_deep(source: Source) -> bool:
    """Whether a PNG has 16 bits to a channel."""
    return source.read(12, 4) == b"IHDR" and source.number(24, 1) == 16


def rows_of(source: Source) -> Iterator[bytes]:
    """Yield the rows from top to bottom.

    Raises:
        Damaged: the compressed data end too early, or are not zlib data.
    """
    width, height = source.number(16, 4, big=True), source.number(20, 4, big=True)
    channels, interlaced = _CHANNELS.get(source.number(25, 1)), source.number(28, 1)
    if channels is None or not 0 < width * height <= _LARGEST:
        raise Damaged("its header does not hold together")
    rows = _Inflated(source)
    key = _transparent(source, channels)
    if not interlaced:
        for row in _pass(rows, width, height, channels):
            yield _rgba(row, key).tobytes()
        return
    whole = np.zeros((height, width, channels), np.uint16)
    for x, y, dx, dy in _PASSES:
        wide, high = -(-(width - x) // dx), -(-(height - y) // dy)
        for at, row in enumerate(_pass(rows, wide, high, channels) if wide > 0 else ()):
            whole[y + at * dy, x::dx] = row
    for row in whole:
        yield _rgba(row, key).tobytes()


class _Inflated:
    """The compressed data of all IDAT chunks, read as far as asked."""

    def __init__(self, source: Source) -> None:
        self._pieces = self._data(source)
        self._held = bytearray()

    @staticmethod
    def _data(source: Source) -> Iterator[bytes]:
        decoder, offset = zlib.decompressobj(), 8
        while offset + 8 <= source.size:
            size, name = source.number(offset, 4, big=True), source.read(offset + 4, 4)
            if name == b"IDAT":
                for piece in source.sub(offset + 8, size).pieces(1 << 16):
                    data = decoder.decompress(piece, 1 << 20)
                    while data:
                        yield data
                        data = decoder.decompress(decoder.unconsumed_tail, 1 << 20)
            offset += 12 + size

    def read(self, count: int) -> bytes:
        while len(self._held) < count:
            try:
                self._held += next(self._pieces)
            except (StopIteration, zlib.error) as error:
                raise Damaged("its pixels end too early") from error
        data = bytes(self._held[:count])
        del self._held[:count]
        return data


def _pass(
    rows: _Inflated, width: int, height: int, channels: int
) -> Iterator[np.ndarray[tuple[int, ...], np.dtype[np.uint16]]]:
    step, size = 2 * channels, 2 * channels * width
    before = bytearray(size)
    for _ in range(max(height, 0)):
        line = rows.read(size + 1)
        before = _unfiltered(line[0], bytearray(line[1:]), before, step)
        yield np.frombuffer(bytes(before), ">u2").reshape(width, channels).astype(np.uint16)


def _unfiltered(kind: int, row: bytearray, up: bytearray, step: int) -> bytearray:
    if kind == 2:
        both = np.frombuffer(row, np.uint8) + np.frombuffer(up, np.uint8)
        return bytearray(both.tobytes())
    if kind == 1:
        for at in range(step, len(row)):
            row[at] = (row[at] + row[at - step]) & 255
    elif kind == 3:
        for at in range(len(row)):
            left = row[at - step] if at >= step else 0
            row[at] = (row[at] + (left + up[at] >> 1)) & 255
    elif kind == 4:
        for at in range(len(row)):
            left, corner = (row[at - step], up[at - step]) if at >= step else (0, 0)
            row[at] = (row[at] + _paeth(left, up[at], corner)) & 255
    elif kind:
        raise Damaged(f"a row has filter {kind}")
    return row


def _paeth(left: int, up: int, corner: int) -> int:
    guess = left + up - corner
    a, b, c = abs(guess - left), abs(guess - up), abs(guess - corner)
    return left if a <= b and a <= c else up if b <= c else corner


def _transparent(source: Source, channels: int) -> tuple[int, ...] | None:
    """Return the transparent colour, if a tRNS chunk names one."""
    offset = 8
    while offset + 8 <= source.size and source.read(offset + 4, 4) != b"IDAT":
        size = source.number(offset, 4, big=True)
        if source.read(offset + 4, 4) == b"tRNS" and channels in {1, 3}:
            data = source.sub(offset + 8, size)
            return tuple(data.number(2 * at, 2, big=True) for at in range(channels))
        offset += 12 + size
    return None


def _rgba(
    row: np.ndarray[tuple[int, ...], np.dtype[np.uint16]], key: tuple[int, ...] | None
) -> np.ndarray[tuple[int, ...], np.dtype[np.uint16]]:
    width, channels = row.shape
    full = np.full((width, 4), 0xFFFF, np.uint16)
    colours = 1 if channels <= 2 else 3
    full[:, :3] = row[:, :colours]
    if channels in {2, 4}:
        full[:, 3] = row[:, -1]
    elif key is not None:
        full[(row == np.array(key)).all(axis=1), 3] = 0
    return full.astype(">u2")
