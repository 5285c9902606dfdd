"""Where files and compressed streams may begin in bytes that are no text, by their first bytes.

zlib has a mark of two bytes, deflate and Brotli have none: they count when something sensible comes out.

Invariant: trying reads ``HEAD`` bytes at most, and gives up on the first wrong one.
"""

from __future__ import annotations

import io
import re
import zlib
from contextlib import suppress
from typing import Final

from twice.assets.leaks.text import Keywords
from twice.assets.media.archives import DAMAGED, decompress
from twice.assets.media.sniff import HEAD, Format, sniff
from twice.errors import ExtraMissing

_STREAMS: Final = {
    b"\x1f\x8b\x08\0": "gzip", b"\x1f\x8b\x08\x08": "gzip", b"\x28\xb5\x2f\xfd": "zstd", b"\xfd7zX": "xz",
    b"\x04\x22\x4d\x18": "LZ4", b"brob": "Brotli", b"PK\3\4": "zip",
    **{b"BZh%d" % level: "bzip2" for level in range(1, 10)},
    **{b"\x5d\0\0" + bytes([size]): "LZMA" for size in (0, 1, 2, 4, 8, 16, 32, 64, 128)},
}  # fmt: skip
_FILES: Final = (
    b"\x89PNG", *(b"\xff\xd8\xff" + bytes([mark]) for mark in (*range(0xE0, 0xEF), 0xDB)), b"GIF8", b"RIFF", b"fLaC",
    b"OggS", b"ID3\2", b"ID3\3", b"ID3\4", b"ftyp", b"%PDF", b"wOF2",
)  # fmt: skip
_SKIPPED: Final = {b"ftyp": -4, b"brob": 8}  # bytes from the mark to where a file or stream begins
_MARKS: Final = Keywords([*_STREAMS, *_FILES])
_ZLIB: Final = re.compile(rb"x[\x01\x5e\x9c\xda]")
_TEXT_MIN: Final = 32  # bytes that come out of compressed ones, for it to be no accident


def is_zlib(data: bytes) -> bool:
    """Return whether two bytes that look like zlib are the beginning of it."""
    try:
        return len(zlib.decompressobj().decompress(data, 64)) >= 16
    except zlib.error:
        return False


def guess_codec(head: bytes, *, is_brotli: bool) -> str:
    """Return the compression of bytes that no first bytes tell, if text comes out of their beginning."""
    if is_brotli:
        return "Brotli"
    for codec in ("deflate", "Brotli"):
        out = b""
        with suppress(ExtraMissing, *DAMAGED):
            for piece in decompress(codec, io.BytesIO(head)):
                out += piece
        if len(out) >= _TEXT_MIN and sniff(out[:HEAD]) is Format.TEXT:
            return codec
    return ""


def find_inside(data: bytes) -> list[tuple[int, str]]:
    """Return where files and streams may begin in bytes, each with its codec; a file has none."""
    found: list[tuple[int, str]] = []
    for mark, places in _MARKS.find(data).items():
        codec = _STREAMS.get(mark, "")
        for at in places:
            is_stored = (
                codec == "zip" and data[at + 8 : at + 10] != b"\x08\0"
            )  # It is read as it is.
            if not is_stored and (codec != "LZMA" or _is_lzma(data[at : at + 14])):
                found.append((max(at + _SKIPPED.get(mark, 0), 0), codec))
    for match in _ZLIB.finditer(data):
        at = match.start()
        if data[max(at - 4, 0) : at] not in {b"IDAT", b"fdAT"} and is_zlib(data[at : at + 512]):
            found.append((at, "zlib"))
    return sorted(found)


def _is_lzma(head: bytes) -> bool:
    """Return whether bytes that begin like LZMA without a container are its head; sound has such bytes by chance."""
    size = int.from_bytes(head[5:13], "little")
    is_small = int.from_bytes(head[1:5], "little") <= 1 << 30
    return head[13:14] == b"\0" and is_small and (size < 1 << 40 or size == (1 << 64) - 1)
