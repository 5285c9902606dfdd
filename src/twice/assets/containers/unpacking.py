"""Compressed bytes unpacked within a budget.

Invariant: what is unpacked in one scan never exceeds the budget; what was unpacked before it ended is given.
"""

from __future__ import annotations

import bz2
import lzma
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, Protocol

from twice.assets.containers.parts import Kind, Part, unread
from twice.assets.containers.source import Source

_STEP: Final = 1 << 16
_ZSTD: Final = 0xFD2FB528
_ZSTD_SKIPPED: Final = 0x184D2A50
_LONGEST_SKIPPED: Final = 1 << 20


@dataclass(slots=True)
class Budget:
    """What one scan may still use.

    Args:
        unpacked: bytes that may still come out of compressed data.
        parts: how many parts may still be looked at.
    """

    unpacked: int = 1 << 30
    parts: int = 200_000

    def take(self, count: int) -> int:
        """How many of these bytes are still allowed."""
        allowed = min(count, self.unpacked)
        self.unpacked -= allowed
        return allowed


class _Decoder(Protocol):
    @property
    def eof(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...


def unpacked(
    name: str, kind: Kind, pieces: Iterator[bytes], budget: Budget, *, key: str = ""
) -> Iterator[Part]:
    """Yield a part of the unpacked bytes, and another that reports why they are incomplete."""
    why: list[str] = []

    def limited() -> Iterator[bytes]:
        try:
            for piece in pieces:
                allowed = budget.take(len(piece))
                yield piece[:allowed]
                if allowed < len(piece):
                    why.append("it unpacks to more than the limit")
                    return
        except (zlib.error, lzma.LZMAError, OSError, EOFError, ValueError) as error:
            why.append(f"it cannot be unpacked to its end: {str(error)[:120]}")

    source = Source.spooled(limited())
    if source.size:
        yield Part(name, kind, source, key=key)
    for each in why:
        yield unread(name, each)


def inflated(source: Source, window: int = zlib.MAX_WBITS) -> Iterator[bytes]:
    """Unpack one zlib stream, in pieces; ``window`` as in zlib."""
    decoder = zlib.decompressobj(window)
    for piece in source.pieces(_STEP):
        data = piece
        while True:
            out = decoder.decompress(data, 1 << 20)
            if out:
                yield out
            data = decoder.unconsumed_tail
            if not data and (decoder.eof or len(out) < 1 << 20):
                break
        if decoder.eof:
            return
    raise EOFError("the compressed data are cut off")


def gunzipped(source: Source) -> Iterator[bytes]:
    """Unpack all members of a gzip file."""
    yield from _members(source, lambda: zlib.decompressobj(31), _zlib_step)


def unpacked_bzip2(source: Source) -> Iterator[bytes]:
    """Unpack a bzip2 file."""
    yield from _members(source, bz2.BZ2Decompressor, _step)


def unpacked_xz(source: Source) -> Iterator[bytes]:
    """Unpack an xz file; its dictionary may take 256 MiB at most."""
    yield from _members(source, lambda: lzma.LZMADecompressor(memlimit=256 << 20), _step)


def unpacked_zstd(source: Source) -> Iterator[bytes]:
    """Unpack the frames of a zstd file one by one, to keep the bytes before any damage."""
    import zstandard

    at = 0
    while source.number(at, 4) == _ZSTD or source.number(at, 4) & ~0xF == _ZSTD_SKIPPED:
        if source.number(at, 4) != _ZSTD:
            yield source.read(at + 8, min(source.number(at + 4, 4), _LONGEST_SKIPPED))
            at += 8 + source.number(at + 4, 4)
            continue
        decoder = zstandard.ZstdDecompressor(max_window_size=128 << 20)
        try:
            with decoder.stream_reader(source.sub(at).as_file()) as reader:
                while piece := reader.read(1 << 20):
                    yield piece
            at = _end_of_frame(source, at)
        except zstandard.ZstdError as error:
            raise ValueError(str(error)) from error


def _end_of_frame(source: Source, at: int) -> int:
    """Where a zstd frame ends: its blocks say how long they are (RFC 8878, 3.1.1)."""
    described = source.number(at + 4, 1)
    is_single, checked = described >> 5 & 1, described >> 2 & 1
    at += 5 + (1 - is_single) + (0, 1, 2, 4)[described & 3]
    at += (is_single, 2, 4, 8)[described >> 6]
    while at + 3 <= source.size:
        head = source.number(at, 3)
        at += 3 + (1 if head >> 1 & 3 == 1 else head >> 3)
        if head & 1:
            return at + 4 * checked
    raise EOFError("the compressed data are cut off")


def _zlib_step(decoder: object, data: bytes) -> tuple[bytes, bytes]:
    out = decoder.decompress(data, 1 << 20)  # type: ignore[attr-defined]
    return out, decoder.unconsumed_tail  # type: ignore[attr-defined]


def _step(decoder: object, data: bytes) -> tuple[bytes, bytes]:
    out = decoder.decompress(data, 1 << 20)  # type: ignore[attr-defined]
    return out, b""


def _members(
    source: Source,
    make: Callable[[], _Decoder],
    step: Callable[[object, bytes], tuple[bytes, bytes]],
) -> Iterator[bytes]:
    decoder, begun = make(), False
    for piece in source.pieces(_STEP):
        data = piece
        while True:
            out, rest = step(decoder, data)
            begun = True
            if out:
                yield out
            if decoder.eof:
                data = decoder.unused_data.lstrip(b"\0")
                if not data:
                    decoder, begun = make(), False
                    break
                decoder = make()
                continue
            data = rest
            if not data and len(out) < 1 << 20:
                break
    if begun:
        raise EOFError("the compressed data are cut off")
