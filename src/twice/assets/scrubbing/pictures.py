"""What is kept of PNG, JPEG, WebP and GIF files.

Invariant: pixels, palettes, animation, colour profile and orientation are kept; nothing else.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator

from twice.assets.containers.iff import chunks
from twice.assets.containers.pictures import (
    PNG_PAYLOAD,
    PNG_STRUCTURE,
    WEBP_PAYLOAD,
    WEBP_STRUCTURE,
    gif_blocks,
    is_needed,
    jpeg_segments,
    png_chunks,
)
from twice.assets.containers.source import Source
from twice.assets.containers.tiff import ORIENTATION, orientation

_EXIF, _XMP = 0x08, 0x04  # flags of VP8X


def png(source: Source) -> Iterator[bytes]:
    """Yield a PNG file without texts, times, manifests and unknown chunks."""
    yield source.read(0, 8)
    for name, offset, body in png_chunks(source):
        needed = name in PNG_PAYLOAD or body.size <= PNG_STRUCTURE.get(name, -1)
        if name == "IEND":
            yield struct.pack(">I", 0) + b"IEND" + struct.pack(">I", zlib.crc32(b"IEND"))
        elif needed or name == "iCCP":
            yield from source.sub(offset, body.size + 12).pieces()
        elif name == "eXIf" and orientation(body) != 1:
            exif = b"eXIf" + _turned(orientation(body))
            yield struct.pack(">I", len(exif) - 4) + exif + struct.pack(">I", zlib.crc32(exif))


def jpeg(source: Source) -> Iterator[bytes]:
    """Yield a JPEG file without comments and application data, except JFIF, Adobe and ICC."""
    for marker, offset, body in jpeg_segments(source):
        head = body.read(0, 12)
        if marker in {0xD8, 0xD9}:
            yield bytes([0xFF, marker])
        elif marker == 0:
            yield from body.pieces()
        elif marker == 0xE0 and head[:5] == b"JFIF\0":
            yield b"\xff\xe0\0\x10" + head + b"\0\0"  # It may carry a thumbnail.
        elif head[:6] == b"Exif\0\0" and marker == 0xE1:
            turned = orientation(body.sub(6))
            if turned != 1:
                exif = b"Exif\0\0" + _turned(turned)
                yield b"\xff\xe1" + struct.pack(">H", len(exif) + 2) + exif
        elif is_needed(marker) or (
            (marker == 0xEE and head[:5] == b"Adobe")
            or (marker == 0xE2 and head == b"ICC_PROFILE\0")
        ):
            yield from source.sub(offset, body.size + 4).pieces()


def webp(source: Source) -> Iterator[bytes]:
    """Yield a WebP file without EXIF, XMP and unknown chunks."""
    turned, kept = 1, []
    for chunk in chunks(source):
        if chunk.name == "EXIF":
            skip = 6 if chunk.source.read(0, 6) == b"Exif\0\0" else 0
            turned = orientation(chunk.source.sub(skip))
        elif chunk.name in WEBP_PAYLOAD | WEBP_STRUCTURE | {"ICCP"}:
            kept.append(chunk)
    exif = _turned(turned) if turned != 1 else b""
    size = 4 + sum(8 + each.source.size + each.source.size % 2 for each in kept)
    size += 8 + len(exif) if exif else 0
    yield b"RIFF" + struct.pack("<I", size) + b"WEBP"
    for chunk in kept:
        yield chunk.name.encode("latin-1") + struct.pack("<I", chunk.source.size)
        if chunk.name == "VP8X":
            flags = chunk.source.number(0, 1) & ~(_EXIF | _XMP) | (_EXIF if exif else 0)
            yield bytes([flags]) + chunk.source.read(1)
        else:
            yield from chunk.source.pieces()
        yield b"\0" * (chunk.source.size % 2)
    if exif:
        yield b"EXIF" + struct.pack("<I", len(exif)) + exif


def gif(source: Source) -> Iterator[bytes]:
    """Yield a GIF file without comments and application data, except its loop count."""
    for name, start, end in gif_blocks(source):
        loops = name == "extension FF" and source.read(start + 3, 8) in {b"NETSCAPE", b"ANIMEXTS"}
        if not name.startswith("extension") or name == "extension F9" or loops:
            yield from source.sub(start, end - start).pieces()


def _turned(how: int) -> bytes:
    """Make an EXIF block with an orientation and nothing else, of even length."""
    return b"MM\0*" + struct.pack(">IHHHIHHI", 8, 1, ORIENTATION, 3, 1, how, 0, 0)
