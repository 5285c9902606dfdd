"""PNG, JPEG, GIF, WebP, WAV, AIFF, FLAC, MPEG audio and AAC without what is said about them, piece by piece.

Kept are pixels, palettes, animation, colour profile and orientation; samples, their format, loops and cue points;
frames of coded sound, and the frame that says how they are trimmed. Nothing is decoded here, and nothing proves here
that the payload is complete; ``scrub`` does.

Source: W3C PNG, third edition; ITU-T T.81 and T.871; GIF89a; RFC 9649 (WebP); Microsoft, Multimedia Programming
Interface 1.0 (RIFF); EBU Tech 3306 (RF64); Apple, AIFF-C (1991); RFC 9639 (FLAC).

Invariant: a byte of the file is kept, or it is in a removed part, or it is padding.
"""

from __future__ import annotations

import re
import struct
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import BinaryIO, Final

from twice.assets.media.archives import PIECE, read_at, size_of
from twice.assets.media.av import open_media, strip_framing
from twice.assets.media.images import open_image
from twice.assets.media.sniff import (
    HEAD,
    Damaged,
    Format,
    decoding,
    find_frame_size,
    skip_id3,
    sniff_file,
)

_IMAGE_MAX: Final = 1 << 30
_ORIENTATION: Final = 274
_UNKNOWN_LENGTH: Final = 0xFFFFFFFF


@dataclass(frozen=True, slots=True)
class RemovedPart:
    """A part of the original that is not in the copy: its name, where it began if that is known, and its length."""

    name: str
    offset: int | None
    size_bytes: int


Pieces = Iterator[bytes | RemovedPart]
"""The bytes of the copy in their order, and between them what is left out."""


def _read_orientation(file: BinaryIO) -> bytes:
    """Return an EXIF block with the orientation of a picture and nothing else; b"" if it is not turned."""
    with decoding("pillow"):
        turned = open_image(file).getexif().get(_ORIENTATION, 1)
    if turned not in range(2, 9):
        return b""
    # One directory of one short number, big-endian, padded to an even length.
    return struct.pack(">4sIHHHIHHI", b"MM\0*", 8, 1, _ORIENTATION, 3, 1, turned, 0, 0)


def _load_image(file: BinaryIO) -> bytes:
    data = read_at(file, 0, _IMAGE_MAX + 1)
    if len(data) > _IMAGE_MAX:
        raise Damaged(f"it is a picture of more than {_IMAGE_MAX >> 30} GiB")
    return data


def _find_rest(data: bytes, end: int) -> Pieces:
    """Yield what stands after the end of a picture, unless it is padding."""
    if data[end:].strip(b"\0\r\n "):
        yield RemovedPart("after the end", end, len(data) - end)


_PNG_SIZES: Final = {
    b"IHDR": 13, b"PLTE": 768, b"tRNS": 256, b"gAMA": 4, b"cHRM": 32, b"sRGB": 1, b"cICP": 4, b"mDCV": 24, b"cLLI": 8,
    b"sBIT": 4, b"bKGD": 6, b"pHYs": 9, b"hIST": 512, b"acTL": 8, b"fcTL": 26, b"oFFs": 9, b"sTER": 1,
    b"IDAT": 1 << 31, b"fdAT": 1 << 31, b"iCCP": 1 << 31,
}  # fmt: skip
"""Chunks that decoding or showing needs, and how many bytes each has at most: a longer one hides something."""

_PNG_TEXTS: Final = frozenset({b"EXt", b"TXt"})  # of tEXt, zTXt and iTXt, which begin with a key


def _filter_png(file: BinaryIO) -> Pieces:
    data, exif = _load_image(file), _read_orientation(file)
    yield data[:8]
    at, name = 8, b""
    while name != b"IEND":
        size, name = int.from_bytes(data[at : at + 4]), data[at + 4 : at + 8]
        end = at + 12 + size
        if len(name) < 4 or end > len(data):
            raise Damaged("a PNG chunk is cut off")
        if size <= _PNG_SIZES.get(name, -1):
            yield data[at:end]
        elif name == b"IEND":
            yield b"\0\0\0\0IEND\xaeB`\x82"
        else:
            key = data[at + 8 : at + 88].partition(b"\0")[0] if name[1:] in _PNG_TEXTS else b""
            yield RemovedPart((name + b" " + key).decode("latin-1").strip(), at, size)
            if name == b"eXIf" and exif:
                body = name + exif
                yield struct.pack(">I", len(exif)) + body + struct.pack(">I", zlib.crc32(body))
        at = end
    yield from _find_rest(data, at)


_SCAN_END: Final = re.compile(rb"\xff[^\0\xff\xd0-\xd7]")
"""A byte of 255 in a scan is followed by 0, by a mark to start again, or by padding."""

_JPEG_BARE: Final = frozenset({0x01, 0xD9, *range(0xD0, 0xD8)})
"""Markers without a segment."""

_JPEG_KEPT: Final = frozenset({*range(0xC0, 0xD0), *range(0xDB, 0xE0)})


def _filter_jpeg(file: BinaryIO) -> Pieces:
    data, exif = _load_image(file), _read_orientation(file)
    yield data[:2]
    at, marker = 2, 0
    while marker != 0xD9:
        if data[at : at + 1] != b"\xff" or at + 2 > len(data):
            raise Damaged("a JPEG segment is missing")
        marker = data[at + 1]
        if marker == 0xFF or marker in _JPEG_BARE:
            at += 1 if marker == 0xFF else 2
            continue
        end = at + 2 + int.from_bytes(data[at + 2 : at + 4])
        head = data[at + 4 : at + 16]
        if end < at + 4 or end > len(data):
            raise Damaged("a JPEG segment is cut off")
        is_colour = (marker, head[:5]) == (0xEE, b"Adobe") or (marker, head) == (
            0xE2,
            b"ICC_PROFILE\0",
        )
        if marker == 0xDA:
            after = _SCAN_END.search(data, end)
            if after is None:
                raise Damaged("the JPEG picture has no end")
            end = after.start()
            yield data[at:end]
        elif marker == 0xE0 and head[:5] == b"JFIF\0":
            yield b"\xff\xe0\0\x10" + head + b"\0\0"  # It may carry a thumbnail.
        elif marker in _JPEG_KEPT or is_colour:
            yield data[at:end]
        else:
            label = head.partition(b"\0")[0].decode("latin-1")
            name = f"APP{marker & 15} {label if label.isprintable() else ''}".strip()
            yield RemovedPart("COM" if marker == 0xFE else name, at, end - at)
            if exif and marker == 0xE1 and head[:6] == b"Exif\0\0":
                yield b"\xff\xe1" + struct.pack(">H", len(exif) + 8) + b"Exif\0\0" + exif
        at = end
    yield b"\xff\xd9"
    yield from _find_rest(data, at)


def _filter_gif(file: BinaryIO) -> Pieces:
    data = _load_image(file)

    def skip_table(at: int) -> int:
        return 3 << (data[at] & 7) + 1 if data[at] & 0x80 else 0

    def skip_blocks(at: int) -> int:
        while at < len(data):
            size = data[at]
            at += 1 + size
            if not size:
                return at
        raise Damaged("a GIF block is cut off")

    at = 13 + skip_table(10)
    yield data[:at]
    while data[at : at + 1] != b";":
        lead, label, name = data[at : at + 1], data[at + 1 : at + 2], data[at + 3 : at + 14]
        if lead == b"," and at + 10 < len(data):
            end = skip_blocks(at + 11 + skip_table(at + 9))
            yield data[at:end]
        elif lead == b"!":
            end = skip_blocks(at + 2)
            if label == b"\xf9" or (label == b"\xff" and name[:8] in {b"NETSCAPE", b"ANIMEXTS"}):
                yield data[at:end]
            else:
                what = "comment" if label == b"\xfe" else name.decode("latin-1")
                what = what if what.isprintable() else label.hex()
                yield RemovedPart(f"GIF {what}", at, end - at)
        else:
            raise Damaged("a GIF block is missing or unknown")
        at = end
    yield b";"
    yield from _find_rest(data, at + 1)


_CHUNKS: Final = frozenset({
    b"fmt ", b"fact", b"ds64", b"cue ", b"smpl", b"inst", b"data",
    b"COMM", b"FVER", b"MARK", b"INST", b"SSND",
    b"VP8X", b"ANIM", b"VP8 ", b"VP8L", b"ALPH", b"ANMF", b"ICCP",
})  # fmt: skip
"""Pixels and samples, and their format, animation, colour profile, loops and cue points."""


def _filter_chunks(file: BinaryIO) -> Pieces:
    exif = _read_orientation(file) if sniff_file(file) is Format.WEBP else b""
    if exif:
        exif = b"EXIF" + struct.pack("<I", len(exif)) + exif
    size = size_of(file)
    head = read_at(file, 0, 12)
    number = ">I" if head[:4] in {b"FORM", b"RIFX"} else "<I"
    (length,) = struct.unpack(number, head[4:8])
    is_large = head[:4] in {b"RF64", b"BW64"}
    end = size if is_large or length == _UNKNOWN_LENGTH else min(8 + length + length % 2, size)
    kept: list[tuple[bytes, int, int]] = []
    at, large_length = 12, 0
    while at + 8 <= end:
        front = read_at(file, at, 24)
        name, (length,) = front[:4], struct.unpack(number, front[4:8])
        if name == b"ds64":
            large_length = int.from_bytes(front[16:], "little")
        if name == b"data" and length == _UNKNOWN_LENGTH:
            length = large_length or end - at - 8
        if name not in _CHUNKS:
            yield RemovedPart(name.decode("latin-1").strip(), at, length)
        elif at + 8 + length > size:
            raise Damaged("a chunk is cut off")
        else:
            kept.append((name, at, length))
        at += 8 + length + length % 2
    if size > end:
        yield RemovedPart("after the end", end, size - end)
    total = 4 + sum(8 + length + length % 2 for _, _, length in kept) + len(exif)
    yield head[:4] + struct.pack(number, _UNKNOWN_LENGTH if is_large else total) + head[8:]
    for name, at, length in kept:
        front = read_at(file, at, min(16, 8 + length))
        if name == b"ds64":
            front = front[:8] + struct.pack("<Q", total)
        elif name == b"VP8X":
            # Its flags say whether EXIF (8) and XMP (4) follow.
            front = front[:8] + bytes([front[8] & ~12 | (8 if exif else 0)]) + front[9:]
        yield front
        for start in range(at + len(front), at + 8 + length, PIECE):
            yield read_at(file, start, min(PIECE, at + 8 + length - start))
        yield b"\0" * (length % 2)
    yield exif


def _filter_frames(file: BinaryIO) -> Pieces:
    """Split MPEG audio, AAC in ADTS and FLAC into frames, and whatever stands around and between them."""
    start = skip_id3(file)
    head = read_at(file, start, HEAD)
    with open_media(file) as media:
        yield from (RemovedPart(f"tag {key}", None, len(value)) for key, value in media.read_tags())
        context = next(each for each in media.streams if each.type == "audio").codec_context
        codec, held, written = context.codec.canonical_name, b"", 0
        for index, packet in enumerate(media.packets()):
            if not index and codec == "flac":
                # Stream information alone: the last block, of 34 bytes.
                held = b"fLaC\x80\0\0\x22" + bytes(context.extradata)
            elif not index and packet.pos > start and re.search(b"Xing|Info|VBRI", head[4:44]):
                # The frame that says how the others are trimmed is no packet.
                held = head[: find_frame_size(head)]
            written += len(held)
            yield held
            held = bytes(packet) if codec == "aac" else strip_framing(codec, bytes(packet))
    if codec == "flac":
        held = held[: _find_flac_end(held)]
    yield held
    rest = size_of(file) - written - len(held)
    if rest > 0:
        yield RemovedPart("bytes around the frames", None, rest)


def _find_flac_end(frame: bytes) -> int:
    """Return where the last frame of a FLAC file ends, by its checksum; FFmpeg gives with it what stands behind."""
    crc, end = 0, len(frame)
    for at, byte in enumerate(frame, 1):
        crc ^= byte << 8
        for _ in range(8):
            crc = (crc << 1 ^ (0x8005 if crc & 0x8000 else 0)) & 0xFFFF
        end = end if crc else at
    return end


FILTERS: Final[dict[Format, Callable[[BinaryIO], Pieces]]] = {
    Format.PNG: _filter_png,
    Format.JPEG: _filter_jpeg,
    Format.GIF: _filter_gif,
    **dict.fromkeys((Format.WEBP, Format.WAV, Format.AIFF), _filter_chunks),
    **dict.fromkeys((Format.FLAC, Format.MPEG, Format.AAC), _filter_frames),
}
