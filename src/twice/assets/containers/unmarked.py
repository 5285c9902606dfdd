"""Compressed bytes that no first bytes tell: Brotli, deflate without a header, LZMA as games pack it.

They are tried, and count when what comes out is text or a known container.

Source: RFC 7932 (Brotli), RFC 1951 (deflate), the LZMA SDK's .lzma format.

Invariant: trying reads ``HEAD`` bytes at most and gives up on the first wrong one.
"""

from __future__ import annotations

import lzma
import zlib
from collections.abc import Callable, Iterator
from typing import Final

from twice.assets.containers.parts import Kind, Part
from twice.assets.containers.source import Source
from twice.assets.containers.unpacking import Budget, inflated, unpacked
from twice.assets.media.sniff import HEAD, Format, sniff
from twice.errors import ExtraMissing

WAYS: Final = ("deflate", "LZMA", "Brotli")
_STEP: Final = 1 << 16
_FEWEST: Final = 32  # bytes of text, for it to be no accident
_WEAK: Final = frozenset({Format.BINARY, Format.ZLIB, Format.BMP, Format.MPEG, Format.AAC})
_LZMA_HEAD: Final = 5  # one byte of settings, four of the size of the dictionary
_MOST_DICTIONARY: Final = 128 << 20

Unpacker = Callable[[Source], Iterator[bytes]]


def unbrotlied(source: Source) -> Iterator[bytes]:
    """Unpack a Brotli stream.

    Raises:
        ExtraMissing: E-EXTRA-001, brotli is not installed.
        ValueError: the bytes are not a Brotli stream.
    """
    try:
        import brotli
    except ImportError as error:
        raise ExtraMissing(
            "Bytes packed by Brotli were asked for, and brotli is not installed.",
            "Expected the extra that decodes assets.",
            "Install it: pip install 'twice[assets]'",
        ) from error
    decoder = brotli.Decompressor()
    try:
        for piece in source.pieces(_STEP):
            out = decoder.process(piece, output_buffer_limit=1 << 20)
            while out:
                yield out
                full = not decoder.can_accept_more_data() and not decoder.is_finished()
                out = decoder.process(b"", output_buffer_limit=1 << 20) if full else b""
            if decoder.is_finished():
                return
    except brotli.error as error:
        raise ValueError(str(error)) from error
    raise EOFError("the compressed data are cut off")


def unlzmaed(source: Source, size: int | None = None) -> Iterator[bytes]:
    """Unpack an LZMA stream, with or without its size in the header.

    Args:
        source: the stream.
        size: its unpacked size, if another table gives it and the header does not.

    Raises:
        ValueError: it is not an LZMA stream, is damaged, or needs too much memory.
    """
    head = source.read(0, 14)
    # The first byte of what is packed is 0; where a size may stand before it, it is behind that.
    is_bare = head[_LZMA_HEAD : _LZMA_HEAD + 1] == b"\0" and head[13:14] != b"\0"
    at = _LZMA_HEAD if is_bare or size is not None else 13
    said = int.from_bytes(head[5:13], "little") if at > _LZMA_HEAD else (1 << 64) - 1
    left = said if size is None else size
    decoder = _lzma_decoder(head)
    try:
        for piece in source.sub(at).pieces(_STEP):
            data = piece
            while not decoder.eof and left > 0:
                out = decoder.decompress(data, min(1 << 20, left))
                left -= len(out)
                data = b""
                if out:
                    yield out
                if decoder.needs_input or not out:
                    break
            if decoder.eof or left <= 0:
                return
    except lzma.LZMAError as error:
        raise ValueError(str(error)) from error


def _lzma_decoder(head: bytes) -> lzma.LZMADecompressor:
    """Make a decoder with the settings in the first five bytes."""
    settings, dictionary = head[0] if head else 255, int.from_bytes(head[1:5], "little")
    if settings >= 225 or dictionary > _MOST_DICTIONARY:
        raise ValueError("it is no LZMA")
    chosen = {
        "id": lzma.FILTER_LZMA1,
        "dict_size": max(dictionary, 4096),
        "lc": settings % 9,
        "lp": settings // 9 % 5,
        "pb": settings // 45,
    }
    try:
        return lzma.LZMADecompressor(lzma.FORMAT_RAW, filters=[chosen])
    except lzma.LZMAError as error:
        raise ValueError(str(error)) from error


def unmarked(source: Source, budget: Budget, among: tuple[str, ...] = WAYS) -> Iterator[Part]:
    """Yield the contents of bytes of unknown kind if they are packed; yield nothing otherwise.

    Args:
        source: the bytes.
        budget: the limits on unpacked bytes.
        among: the compressions to try.

    Raises:
        ExtraMissing: E-EXTRA-001, they may be Brotli, and brotli is not installed.
    """
    missing: ExtraMissing | None = None
    for name in among:
        unpacker = _UNPACKERS[name]
        try:
            if _is_likely(unpacker, source):
                yield from unpacked(name, Kind.FILE, unpacker(source), budget)
                return
        except ExtraMissing as error:
            missing = error
    if missing is not None:
        raise missing


def _is_likely(unpacker: Unpacker, source: Source) -> bool:
    """Whether what comes out first is a text, or a container."""
    out = b""
    try:
        for piece in unpacker(source.sub(0, HEAD)):
            out += piece
            if len(out) >= HEAD:
                break
    except EOFError:
        pass
    except (ValueError, zlib.error):
        return False
    kind = sniff(out[:HEAD])
    return kind not in _WEAK and (kind is not Format.TEXT or len(out) >= _FEWEST)


def _deflated(source: Source) -> Iterator[bytes]:
    yield from inflated(source, -zlib.MAX_WBITS)


_UNPACKERS: Final[dict[str, Unpacker]] = {
    "deflate": _deflated,
    "LZMA": unlzmaed,
    "Brotli": unbrotlied,
}
