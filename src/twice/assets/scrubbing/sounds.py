"""What is kept of WAV, AIFF, FLAC, Ogg (Vorbis, Opus) and MPEG audio files.

Invariant: samples or packets, their format, loops and cue points are kept; nothing else.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field

from twice.assets.containers import id3, mpegaudio, oggpackets
from twice.assets.containers.iff import chunks, is_big_endian
from twice.assets.containers.parts import Damaged
from twice.assets.containers.sounds import flac_blocks
from twice.assets.containers.source import Source

_WAV = frozenset({"fmt ", "fact", "ds64", "cue ", "smpl", "inst", "data"})
_AIFF = frozenset({"COMM", "FVER", "MARK", "INST", "SSND"})
_MIRRORED = bytes(int(f"{each:08b}"[::-1], 2) for each in range(256))


def iff(source: Source) -> Iterator[bytes]:
    """Yield a WAV or AIFF file with only its samples, format, loops and cue points."""
    order = ">" if is_big_endian(source) else "<"
    kept = [each for each in chunks(source) if each.name in (_AIFF if order == ">" else _WAV)]
    if any(not each.is_whole for each in kept):
        raise Damaged("a chunk is cut off")
    size = 4 + sum(8 + each.source.size + each.source.size % 2 for each in kept)
    is_large = source.read(0, 4) in {b"RF64", b"BW64"}
    yield source.read(0, 4) + struct.pack(f"{order}I", 0xFFFFFFFF if is_large else size)
    yield source.read(8, 4)
    for chunk in kept:
        yield source.read(chunk.offset, 8)
        if chunk.name == "ds64":
            yield struct.pack("<Q", size) + chunk.source.read(8)
        else:
            yield from chunk.source.pieces()
        yield b"\0" * (chunk.source.size % 2)


def flac(source: Source) -> Iterator[bytes]:
    """Yield a FLAC file with only its stream information, seek table and frames."""
    yield b"fLaC"
    kept, end = [], 4
    for kind, offset, body in flac_blocks(source):
        end = offset + 4 + body.size
        if kind in {0, 3}:
            kept.append((kind, body))
    for at, (kind, body) in enumerate(kept):
        is_last = 0x80 if at == len(kept) - 1 else 0
        yield bytes([kind | is_last]) + struct.pack(">I", body.size)[1:]
        yield from body.pieces()
    tail = id3.start_of_end_tags(source, end)
    yield from source.sub(end, tail - end).pieces()


def mpeg(source: Source) -> Iterator[bytes]:
    """Yield the frames of MPEG audio, without tags and without the bytes between frames."""
    start = id3.end_of_tags(source)
    end = id3.start_of_end_tags(source, start)
    for frame in mpegaudio.frames(source.sub(0, end), start):
        yield frame.data


@dataclass(slots=True)
class _Stream:
    """A stream whose headers are being gathered, and how many pages were written."""

    first: bytes
    headers: int
    packets: list[bytes] = field(default_factory=list)
    open: bytes = b""
    written: int = 0


def ogg(source: Source) -> Iterator[bytes]:
    """Yield an Ogg file with empty comments, and with new page numbers and checksums.

    Raises:
        Damaged: a stream is neither Vorbis nor Opus.
    """
    streams: dict[int, _Stream] = {}
    for page in oggpackets.pages(source):
        body = source.read(page.body, page.end - page.body)
        if page.flags & 2:
            headers = {b"OpusHead": 2, b"\x01vorbis": 3}.get(
                body[:8] if body[:1] == b"O" else body[:7]
            )
            if headers is None or page.segments[-1:] == b"\xff":
                raise Damaged("a stream is neither Vorbis nor Opus", page.offset)
            streams[page.serial] = _Stream(body, headers)
            yield _page(page.serial, 0, 2, page.granule, page.segments, body)
            streams[page.serial].written = 1
            continue
        stream = streams.get(page.serial)
        if stream is None:
            raise Damaged("a stream has no beginning", page.offset)
        if len(stream.packets) < stream.headers - 1:
            _gather(stream, page.segments, body)
            if len(stream.packets) >= stream.headers - 1:
                yield from _headers(stream, page.serial)
            continue
        flags = page.flags & 5
        yield _page(page.serial, stream.written, flags, page.granule, page.segments, body)
        stream.written += 1


def _gather(stream: _Stream, segments: bytes, body: bytes) -> None:
    at = 0
    for length in segments:
        stream.open += body[at : at + length]
        at += length
        if length < 255:
            stream.packets.append(stream.open)
            stream.open = b""
    if len(stream.packets) > stream.headers - 1 or (
        stream.open and len(stream.packets) == stream.headers - 1
    ):
        raise Damaged("sound begins on the page of its headers")


def _headers(stream: _Stream, serial: int) -> Iterator[bytes]:
    nothing = bytes(8)  # No vendor, no comments.
    if stream.headers == 2:
        packets = [b"OpusTags" + nothing]
    else:
        packets = [b"\x03vorbis" + nothing + b"\x01", *stream.packets[1:]]
    segments, body = b"", b""
    for packet in packets:
        segments += b"\xff" * (len(packet) // 255) + bytes([len(packet) % 255])
        body += packet
    continued = 0
    while segments:
        now, segments = segments[:255], segments[255:]
        size = sum(now)
        ends = any(each < 255 for each in now)
        yield _page(serial, stream.written, continued, 0 if ends else -1, now, body[:size])
        body, continued = body[size:], 1 if now[-1] == 255 else 0
        stream.written += 1


def _page(
    serial: int, number: int, flags: int, granule: int, segments: bytes, body: bytes
) -> bytes:
    head = b"OggS\0" + struct.pack("<BqIIIB", flags, granule, serial, number, 0, len(segments))
    whole = head + segments + body
    return whole[:22] + struct.pack("<I", _checked(whole)) + whole[26:]


def _checked(data: bytes) -> int:
    """Compute the checksum of Ogg: zlib's with its bits reversed, without its inversions."""
    mirrored = zlib.crc32(data.translate(_MIRRORED), 0xFFFFFFFF) ^ 0xFFFFFFFF
    return int(f"{mirrored:032b}"[::-1], 2)
