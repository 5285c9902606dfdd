"""Which container bytes are in, by their first bytes; names are not asked.

Invariant: the answer depends on the first ``HEAD`` bytes alone.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final

HEAD: Final = 1 << 12


class Format(StrEnum):
    """The containers that are known, in the words of media types."""

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
    (b"\x89PNG\r\n\x1a\n", Format.PNG),
    (b"\xff\xd8\xff", Format.JPEG),
    (b"GIF87a", Format.GIF),
    (b"GIF89a", Format.GIF),
    (b"II*\0", Format.TIFF),
    (b"MM\0*", Format.TIFF),
    (b"II+\0", Format.TIFF),
    (b"MM\0+", Format.TIFF),
    (b"\0\0\0\x0cJXL \r\n\x87\n", Format.JXL),
    (b"UnityFS\0", Format.UNITY),
    (b"fLaC", Format.FLAC),
    (b"OggS", Format.OGG),
    (b"ID3", Format.MPEG),
    (b"APETAGEX", Format.MPEG),
    (b"\x1aE\xdf\xa3", Format.MATROSKA),
    (b"MThd", Format.MIDI),
    (b"PK\x03\x04", Format.ZIP),
    (b"PK\x05\x06", Format.ZIP),
    (b"\x1f\x8b\x08", Format.GZIP),
    (b"BZh", Format.BZIP2),
    (b"\xfd7zXZ\0", Format.XZ),
    (b"\x28\xb5\x2f\xfd", Format.ZSTD),
    (b"\x04\x22\x4d\x18", Format.LZ4),
    (b"7z\xbc\xaf\x27\x1c", Format.SEVEN_ZIP),
    (b"Rar!\x1a\x07", Format.RAR),
    (b"MSCF\0\0\0\0", Format.CABINET),
    (b"ITSF\x03\0\0\0", Format.CHM),
    (b"MSWIM\0\0\0", Format.WIM),
    (b"glTF", Format.GLB),
    (b"\0\x01\0\0", Format.FONT),
    (b"OTTO", Format.FONT),
    (b"true", Format.FONT),
    (b"wOFF", Format.WOFF),
    (b"wOF2", Format.WOFF2),
    (b"ttcf", Format.COLLECTION),
    (b"SQLite format 3\0", Format.SQLITE),
)  # fmt: skip
_FORMS: Final = {
    b"WAVE": Format.WAV, b"WEBP": Format.WEBP, b"AIFF": Format.AIFF, b"AIFC": Format.AIFF,
}  # fmt: skip
_TEXT_CONTROLS: Final = frozenset(range(32)) - frozenset(b"\t\n\r\x0b\x0c\x1b")


def sniff(head: bytes) -> Format:
    """Return the container format that these bytes begin.

    Args:
        head: the first ``HEAD`` bytes, or all if there are fewer.
    """
    if head[:4] in {b"RIFF", b"RIFX", b"RF64", b"BW64", b"FORM"} and head[8:12] in _FORMS:
        return _FORMS[head[8:12]]
    if head[4:8] in {b"ftyp", b"moov"} and head[:1] in {b"\0", b"\x01"}:
        is_picture = any(brand in head[8:64] for brand in (b"avif", b"avis", b"heic", b"mif1"))
        return Format.AVIF if is_picture and head[4:8] == b"ftyp" else Format.MP4
    for beginning, kind in _BEGINNINGS:
        if head.startswith(beginning) and not (kind is Format.FONT and not _is_font(head)):
            return kind
    if b"%PDF-" in head[:1024]:
        return Format.PDF
    if head[:2] == b"BM" and len(head) >= 26 and head[6:10] == b"\0\0\0\0":
        return Format.BMP
    if head[60:68] in {b"BOOKMOBI", b"TEXtREAd"}:
        return Format.PALM
    if head[257:262] == b"ustar":
        return Format.TAR
    if _is_audio_frame(head):
        return Format.AAC if head[1] & 0xF6 == 0xF0 else Format.MPEG
    if _is_text(head):
        return Format.TEXT
    is_zlib = len(head) > 2 and head[0] == 0x78 and (head[0] << 8 | head[1]) % 31 == 0
    return Format.ZLIB if is_zlib else Format.BINARY


def _is_font(head: bytes) -> bool:
    tables = int.from_bytes(head[4:6], "big")
    return 0 < tables < 256 and len(head) >= 28 and head[12:16].isascii()


def _is_audio_frame(head: bytes) -> bool:
    """Two frames in a row, so that two bytes of anything are not taken for sound."""
    from twice.assets.containers.mpegaudio import header_of

    first = header_of(head[:7])
    if first is None:
        return False
    second = head[first.size : first.size + 7]
    return len(second) < 7 or header_of(second) is not None


def _is_text(head: bytes) -> bool:
    if head[:2] in {b"\xff\xfe", b"\xfe\xff"}:
        return True
    return bool(head) and not _TEXT_CONTROLS.intersection(head)
