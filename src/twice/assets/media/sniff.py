"""The format of a file by its first bytes, and the one exception of a file that is not what they say.

Names and extensions are not asked.

Invariant: ``sniff`` depends on the first ``HEAD`` bytes alone.
"""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from typing import Any, BinaryIO, Final

from twice.errors import ExtraMissing

HEAD: Final = 1 << 12


class Format(StrEnum):
    """The known formats, in the words of media types."""

    PNG = "image/png"
    JPEG = "image/jpeg"
    GIF = "image/gif"
    WEBP = "image/webp"
    TIFF = "image/tiff"
    BMP = "image/bmp"
    AVIF = "image/avif"
    JXL = "image/jxl"
    WAV = "audio/wav"
    AIFF = "audio/aiff"
    FLAC = "audio/flac"
    OGG = "audio/ogg"
    MPEG = "audio/mpeg"
    AAC = "audio/aac"
    MP4 = "video/mp4"
    MATROSKA = "video/x-matroska"
    AVI = "video/x-msvideo"
    MIDI = "audio/midi"
    PDF = "application/pdf"
    ZIP = "application/zip"
    TAR = "application/x-tar"
    GZIP = "application/gzip"
    ZLIB = "application/zlib"
    BZIP2 = "application/x-bzip2"
    XZ = "application/x-xz"
    ZSTD = "application/zstd"
    LZ4 = "application/x-lz4"
    SEVEN_ZIP = "application/x-7z-compressed"
    RAR = "application/vnd.rar"
    CABINET = "application/vnd.ms-cab-compressed"
    CHM = "application/vnd.ms-htmlhelp"
    WIM = "application/x-ms-wim"
    PALM = "application/x-mobipocket-ebook"
    UNITY = "application/x-unity-bundle"
    GLB = "model/gltf-binary"
    FONT = "font/sfnt"
    WOFF = "font/woff"
    WOFF2 = "font/woff2"
    COLLECTION = "font/collection"
    SQLITE = "application/vnd.sqlite3"
    TEXT = "text/plain"
    BINARY = "application/octet-stream"


_BEGINNINGS: Final = (
    (b"\x89PNG\r\n\x1a\n", Format.PNG), (b"\xff\xd8\xff", Format.JPEG), (b"GIF87a", Format.GIF), (b"GIF89a", Format.GIF),
    (b"II*\0", Format.TIFF), (b"MM\0*", Format.TIFF), (b"II+\0", Format.TIFF), (b"MM\0+", Format.TIFF),
    (b"\0\0\0\x0cJXL \r\n\x87\n", Format.JXL), (b"UnityFS\0", Format.UNITY), (b"fLaC", Format.FLAC), (b"OggS", Format.OGG),
    (b"ID3", Format.MPEG), (b"APETAGEX", Format.MPEG), (b"\x1aE\xdf\xa3", Format.MATROSKA), (b"MThd", Format.MIDI),
    (b"PK\x03\x04", Format.ZIP), (b"PK\x05\x06", Format.ZIP), (b"\x1f\x8b\x08", Format.GZIP), (b"BZh", Format.BZIP2),
    (b"\xfd7zXZ\0", Format.XZ), (b"\x28\xb5\x2f\xfd", Format.ZSTD), (b"\x04\x22\x4d\x18", Format.LZ4),
    (b"7z\xbc\xaf\x27\x1c", Format.SEVEN_ZIP), (b"Rar!\x1a\x07", Format.RAR), (b"MSCF\0\0\0\0", Format.CABINET),
    (b"ITSF\x03\0\0\0", Format.CHM), (b"MSWIM\0\0\0", Format.WIM), (b"glTF", Format.GLB), (b"wOFF", Format.WOFF),
    (b"\0\x01\0\0", Format.FONT), (b"OTTO", Format.FONT), (b"true", Format.FONT), (b"wOF2", Format.WOFF2),
    (b"ttcf", Format.COLLECTION), (b"SQLite format 3\0", Format.SQLITE),
)  # fmt: skip
_FORMS: Final = {
    b"WAVE": Format.WAV, b"WEBP": Format.WEBP, b"AIFF": Format.AIFF, b"AIFC": Format.AIFF, b"AVI ": Format.AVI,
}  # fmt: skip
_TEXT_CONTROLS: Final = frozenset(range(32)) - frozenset(b"\t\n\r\x0b\x0c\x1b")


class Damaged(Exception):
    """A file cannot be read as what its first bytes say; ``why`` is a clause without a full stop."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


@contextmanager
def decoding(program: str) -> Iterator[None]:
    """Turn every exception of a decoder into ``Damaged``, and silence its warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            yield
        except (Damaged, ExtraMissing):
            raise
        except Exception as error:  # struct.error, IndexError, RecursionError: whatever they like.
            said = getattr(error, "strerror", None) or str(error) or type(error).__name__
            raise Damaged(f"{program} says: {said[:200]}") from error


def load_library(name: str) -> Any:
    """Import a library of the extra ``assets``.

    Raises:
        ExtraMissing: E-EXTRA-001, it is not installed.
    """
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise ExtraMissing(
            f"{name} is needed to read this file, and is not installed.",
            "Expected the extra of assets.",
            "Install it: pip install 'twice[assets]'",
        ) from error


def sniff(head: bytes) -> Format:
    """Return the format that the first ``HEAD`` bytes of a file begin."""
    if head[:4] in {b"RIFF", b"RIFX", b"RF64", b"BW64", b"FORM"} and head[8:12] in _FORMS:
        return _FORMS[head[8:12]]
    if head[4:8] in {b"ftyp", b"moov"} and head[:1] in {b"\0", b"\x01"}:
        is_picture = any(brand in head[8:64] for brand in (b"avif", b"avis", b"heic", b"mif1"))
        return Format.AVIF if is_picture and head[4:8] == b"ftyp" else Format.MP4
    is_font = head[4:5] == b"\0" < head[5:6] and len(head) >= 28 and head[12:16].isascii()
    for beginning, kind in _BEGINNINGS:
        if head.startswith(beginning) and (is_font or kind is not Format.FONT):
            return kind
    if b"%PDF-" in head[:1024]:
        return Format.PDF
    if head[:2] == b"BM" and len(head) >= 26 and head[6:10] == bytes(4):
        return Format.BMP
    if head[60:68] in {b"BOOKMOBI", b"TEXtREAd"}:
        return Format.PALM
    if head[257:262] == b"ustar":
        return Format.TAR
    # Two frames in a row, so that two bytes of anything are not taken for sound.
    size = find_frame_size(head)
    if size and (len(head) < size + 7 or find_frame_size(head[size:])):
        return Format.AAC if head[1] & 0xF6 == 0xF0 else Format.MPEG
    is_utf16 = head[:2] in {b"\xff\xfe", b"\xfe\xff"}
    if is_utf16 or (head and not _TEXT_CONTROLS.intersection(head)):
        return Format.TEXT
    is_zlib = len(head) > 2 and head[0] == 0x78 and int.from_bytes(head[:2]) % 31 == 0
    return Format.ZLIB if is_zlib else Format.BINARY


def sniff_file(file: BinaryIO) -> Format:
    """Return the format of an open file; a FLAC file behind an ID3 tag is FLAC."""
    file.seek(skip_id3(file))
    if file.read(4) == b"fLaC":
        return Format.FLAC
    file.seek(0)
    return sniff(file.read(HEAD))


def skip_id3(file: BinaryIO) -> int:
    """Return where the sound begins: after all ID3v2 tags at the beginning."""
    at = 0
    while True:
        file.seek(at)
        head = file.read(10)
        if len(head) < 10 or head[:3] != b"ID3":
            return at
        sizes = zip(head[6:], (21, 14, 7, 0), strict=True)
        at += 10 + sum((byte & 127) << shift for byte, shift in sizes)


_RATES: Final = {3: (44100, 48000, 32000), 2: (22050, 24000, 16000), 0: (11025, 12000, 8000)}
_KBIT: Final = {
    (True, 3): (32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448),
    (True, 2): (32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384),
    (True, 1): (32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320),
    (False, 3): (32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256),
    (False, 2): (8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160),
    (False, 1): (8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160),
}  # by whether it is MPEG 1, and by the two bits of the layer


def find_frame_size(head: bytes) -> int:
    """Return the bytes of the frame of MPEG audio or ADTS that begins here; 0 if none does.

    Source: ISO/IEC 11172-3 and 13818-3, 2.4.1.3; 13818-7, 6.2.
    """
    if len(head) < 7 or head[0] != 0xFF or head[1] & 0xE0 != 0xE0:
        return 0
    if head[1] & 0xF6 == 0xF0:
        size = (head[3] & 3) << 11 | head[4] << 3 | head[5] >> 5
        return size if head[2] >> 2 & 15 < 13 and size > 9 else 0
    version, layer = head[1] >> 3 & 3, head[1] >> 1 & 3
    rate_at, kbit_at, padding = head[2] >> 2 & 3, head[2] >> 4, head[2] >> 1 & 1
    if version == 1 or not layer or rate_at == 3 or not 1 <= kbit_at <= 14:
        return 0
    rate, kbit = _RATES[version][rate_at], _KBIT[version == 3, layer][kbit_at - 1]
    if layer == 3:
        return (12000 * kbit // rate + padding) * 4
    samples_per_byte = 72 if layer == 1 and version != 3 else 144
    return samples_per_byte * 1000 * kbit // rate + padding
