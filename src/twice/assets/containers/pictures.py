"""Parts of PNG, JPEG, GIF and WebP files.

Source: W3C PNG, third edition; ITU-T T.81 and T.871; GIF89a; RFC 9649 (WebP).

Invariant: every byte of the file is in a part, in a frame around one, or after the end.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from twice.assets.containers.iff import chunks, end_of_form
from twice.assets.containers.parts import Kind, Part
from twice.assets.containers.slack import behind_pixels
from twice.assets.containers.source import PIECE, Source
from twice.assets.containers.unpacking import Budget, inflated, unpacked
from twice.assets.media.sniff import Damaged

_RESOURCES: Final = b"Photoshop 3.0\0"
PNG_STRUCTURE: Final = {
    "IHDR": 13, "PLTE": 768, "IEND": 0, "tRNS": 256, "gAMA": 4, "cHRM": 32, "sRGB": 1, "cICP": 4,
    "mDCV": 24, "cLLI": 8, "sBIT": 4, "bKGD": 6, "pHYs": 9, "hIST": 512, "acTL": 8, "fcTL": 26,
    "oFFs": 9, "sTER": 1,
}  # fmt: skip
"""Chunks that decoding or showing needs, and how many bytes each has at most."""
PNG_PAYLOAD: Final = frozenset({"IDAT", "fdAT"})
WEBP_STRUCTURE: Final = frozenset({"VP8X", "ANIM"})
WEBP_PAYLOAD: Final = frozenset({"VP8 ", "VP8L", "ALPH", "ANMF"})
_TEXTS: Final = frozenset({"tEXt", "zTXt", "iTXt"})
_LONGEST_TEXT: Final = 64 << 20


def png_chunks(source: Source) -> Iterator[tuple[str, int, Source]]:
    """Letters, offset and contents of the chunks, to IEND.

    Raises:
        Damaged: a chunk is cut off, or there is no end.
    """
    offset = 8
    while True:
        size, name = source.number(offset, 4, big=True), source.read(offset + 4, 4)
        if len(name) < 4 or offset + 12 + size > source.size:
            raise Damaged("a PNG chunk is cut off", offset)
        yield name.decode("latin-1"), offset, source.sub(offset + 8, size)
        offset += 12 + size
        if name == b"IEND":
            return


def png(source: Source, budget: Budget) -> Iterator[Part]:
    """Yield the chunks of a PNG file, texts unpacked, and any bytes after its end."""
    end, coded = source.size, []
    for name, offset, body in png_chunks(source):
        end = offset + 12 + body.size
        if name == "IDAT":
            coded.append(body)
        if name in _TEXTS:
            yield from _text(name, offset, body, budget)
        elif name in PNG_PAYLOAD:
            yield Part(name, Kind.PAYLOAD, body, offset)
        elif body.size <= PNG_STRUCTURE.get(name, -1):
            yield Part(name, Kind.STRUCTURE, body, offset)
        elif name == "iCCP":
            packed = body.sub(body.read(0, 81).find(b"\0") + 2)
            yield from unpacked("iCCP", Kind.METADATA, inflated(packed), budget, key="iCCP")
        elif name == "eXIf":
            yield Part(name, Kind.FILE, body, offset, name)
        else:
            yield Part(name, Kind.METADATA, body, offset, name)
    slack = behind_pixels(source, coded)
    if slack.strip(b"\0"):
        yield Part("behind the pixels", Kind.TRAILING, Source.of_bytes(slack))
    yield from after(source, end)


def after(source: Source, end: int) -> Iterator[Part]:
    """Yield the bytes after the end of a container, unless they are padding."""
    rest = source.sub(end)
    if any(piece.strip(b"\0\r\n ") for piece in rest.pieces()):
        yield Part("after the end", Kind.TRAILING, rest, end)


def _text(name: str, offset: int, body: Source, budget: Budget) -> Iterator[Part]:
    head = body.read(0, 512)
    keyword, _, rest = head.partition(b"\0")
    key = keyword[:79].decode("latin-1")
    step, at, packed = f"{name} {key}", len(keyword) + 1, name == "zTXt"
    if name == "zTXt":
        at += 1
    elif name == "iTXt":
        packed = rest[:1] == b"\1"
        language = rest[2:].partition(b"\0")
        at += 2 + len(language[0]) + 1 + len(language[2].partition(b"\0")[0]) + 1
    text = body.sub(at)
    if packed:
        yield from unpacked(step, Kind.METADATA, inflated(text), budget, key=key)
    else:
        yield Part(step, Kind.METADATA, text.sub(0, _LONGEST_TEXT), offset + 8 + at, key)


def jpeg_segments(source: Source) -> Iterator[tuple[int, int, Source]]:
    """Marker, offset and contents of the segments; of a scan, its coded data too, as marker 0.

    Raises:
        Damaged: a segment is cut off, or the end is missing.
    """
    offset = 2
    yield 0xD8, 0, source.sub(0, 0)
    while True:
        lead, marker = source.number(offset, 1), source.number(offset + 1, 1)
        if offset + 2 > source.size or lead != 0xFF:
            raise Damaged("a JPEG segment is missing", offset)
        if marker == 0xFF:
            offset += 1
            continue
        if marker == 0xD9:
            yield marker, offset, source.sub(offset, 0)
            return
        if marker == 0x01 or 0xD0 <= marker <= 0xD7:
            offset += 2
            continue
        size = source.number(offset + 2, 2, big=True)
        if size < 2 or offset + 2 + size > source.size:
            raise Damaged("a JPEG segment is cut off", offset)
        yield marker, offset, source.sub(offset + 4, size - 2)
        offset += 2 + size
        if marker == 0xDA:
            end = _end_of_scan(source, offset)
            yield 0, offset, source.sub(offset, end - offset)
            offset = end


def _end_of_scan(source: Source, start: int) -> int:
    offset = start
    while offset < source.size:
        piece = source.read(offset, PIECE)
        at = piece.find(b"\xff")
        while 0 <= at < len(piece) - 1:
            follower = piece[at + 1]
            if follower and not 0xD0 <= follower <= 0xD7 and follower != 0xFF:
                return offset + at
            at = piece.find(b"\xff", at + 1)
        if offset + len(piece) >= source.size:
            break
        offset += len(piece) - 1
    raise Damaged("the JPEG picture has no end", start)


def is_needed(marker: int) -> bool:
    """Whether a JPEG segment is a frame, a table or a scan; other numbers are reserved."""
    return 0xC0 <= marker <= 0xCF or 0xDA <= marker <= 0xDF


def jpeg(source: Source, budget: Budget) -> Iterator[Part]:
    """Yield the segments of a JPEG file, and any bytes after its end."""
    del budget
    end = source.size
    for marker, offset, body in jpeg_segments(source):
        end = offset + 2
        head = body.read(0, 40)
        if marker == 0:
            yield Part("scan", Kind.PAYLOAD, body, offset)
        elif marker == 0xFE:
            yield Part("COM", Kind.METADATA, body, offset, "COM")
        elif not 0xE0 <= marker <= 0xEF:
            kind = Kind.STRUCTURE if is_needed(marker) else Kind.METADATA
            yield Part(f"marker {marker:02X}", kind, body, offset)
        elif head[:6] == b"Exif\0\0":
            yield Part("APP1 Exif", Kind.FILE, body.sub(6), offset + 10, "Exif")
        elif head[:5] == b"JFIF\0" or (marker == 0xEE and head[:5] == b"Adobe"):
            yield Part(f"APP{marker & 15}", Kind.STRUCTURE, body, offset)
        else:
            label = head.partition(b"\0")[0].decode("latin-1")[:32]
            name = f"APP{marker & 15} {label if label.isprintable() else ''}".strip()
            # The mark of this segment names a program, whoever wrote it.
            said = body.sub(len(_RESOURCES)) if head.startswith(_RESOURCES) else body
            yield Part(name, Kind.METADATA, said, offset, name)
    yield from after(source, end)


def webp(source: Source, budget: Budget) -> Iterator[Part]:
    """Yield the chunks of a WebP file, and any bytes after its end."""
    del budget
    for chunk in chunks(source):
        if not chunk.is_whole:
            raise Damaged("a WebP chunk is cut off", chunk.offset)
        body = chunk.source
        if chunk.name in WEBP_PAYLOAD:
            yield Part(chunk.name, Kind.PAYLOAD, body, chunk.offset)
        elif chunk.name in WEBP_STRUCTURE:
            yield Part(chunk.name, Kind.STRUCTURE, body, chunk.offset)
        elif chunk.name == "EXIF":
            skip = 6 if body.read(0, 6) == b"Exif\0\0" else 0
            yield Part("EXIF", Kind.FILE, body.sub(skip), chunk.offset + 8 + skip, "EXIF")
        else:
            yield Part(chunk.name.strip(), Kind.METADATA, body, chunk.offset, chunk.name.strip())
    yield from after(source, end_of_form(source))


def gif_blocks(source: Source) -> Iterator[tuple[str, int, int]]:
    """Name, beginning and end of the blocks of a GIF file, its head first and its end last.

    Raises:
        Damaged: a block is cut off, or is none.
    """
    packed = source.number(10, 1)
    offset = 13 + (3 << (packed & 7) + 1 if packed & 0x80 else 0)
    yield "head", 0, offset
    while True:
        start, lead = offset, source.read(offset, 2)
        if lead[:1] == b";":
            yield "end", offset, offset + 1
            return
        if lead[:1] == b"!" and len(lead) == 2:
            offset = _end_of_blocks(source, offset + 2)
            yield f"extension {lead[1]:02X}", start, offset
        elif lead[:1] == b",":
            packed = source.number(offset + 9, 1)
            table = 3 << (packed & 7) + 1 if packed & 0x80 else 0
            offset = _end_of_blocks(source, offset + 11 + table)
            yield "image", start, offset
        else:
            raise Damaged("a GIF block is missing or unknown", offset)


def _end_of_blocks(source: Source, offset: int) -> int:
    while offset < source.size:
        size = source.number(offset, 1)
        offset += 1 + size
        if not size:
            return offset
    raise Damaged("a GIF block is cut off", offset)


def gif(source: Source, budget: Budget) -> Iterator[Part]:
    """Yield the blocks of a GIF file, and any bytes after its end."""
    del budget
    end = source.size
    for name, start, end in gif_blocks(source):
        if name == "image":
            yield Part("image", Kind.PAYLOAD, source.sub(start, end - start), start)
        elif not name.startswith("extension") or name == "extension F9":
            yield Part(name, Kind.STRUCTURE, source.sub(start, end - start), start)
        else:
            label = source.read(start + 3, 11)
            data = Source.spooled(_joined(source, start + 2, end))
            if label[:8] in {b"NETSCAPE", b"ANIMEXTS"} and name == "extension FF":
                yield Part("loop", Kind.STRUCTURE, data, start)
                continue
            key = "comment" if name == "extension FE" else label.decode("latin-1")
            if label == b"XMP DataXMP":
                data = source.sub(start + 14, end - start - 14)
            yield Part(f"GIF {key}" if key.isprintable() else name, Kind.METADATA, data, start, key)
    yield from after(source, end)


def _joined(source: Source, offset: int, end: int) -> Iterator[bytes]:
    while offset < end:
        size = source.number(offset, 1)
        yield source.read(offset + 1, size)
        offset += 1 + size
