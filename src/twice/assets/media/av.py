"""Coded sound and film as FFmpeg demuxes them, through PyAV: streams, what decoding needs of each, and packets.

Nothing is decoded beyond what FFmpeg needs to know a stream. FFmpeg reads what it can of a file that is cut off and
says nothing; therefore the lengths that a container states are held against the file first. MPEG audio, AAC in ADTS
and an Ogg stream cut between two pages state none.

Source: ISO/IEC 14496-12 (boxes), RFC 8794 and 9559 (EBML, Matroska), RFC 3533 (Ogg), Microsoft AVI.

Invariant: between two packets no more than ``PACKET_MAX`` bytes are read, so that no file decides how much memory is
used.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO, Final

from twice.assets.media.sniff import (
    HEAD,
    Damaged,
    Format,
    decoding,
    find_frame_size,
    load_library,
    sniff,
)

PACKET_MAX: Final = 256 << 20
"""Bytes of a packet, or of the tables and tags before the first one."""

_SAMPLES_MAX: Final = 1 << 20
_FOLDERS: Final = frozenset({b"moov", b"trak", b"mdia", b"minf", b"stbl", b"moof", b"traf"})
_SEGMENT: Final = b"\x18\x53\x80\x67"
_OGG_PAGE_MAX: Final = 27 + 255 + 255 * 255
_STRUCTURAL_TAGS: Final = frozenset(
    {"major_brand", "minor_version", "compatible_brands", "duration", "language"}
)
_DEMUXERS: Final = "mp3,aac,flac,ogg,mov,matroska,avi,wav,aiff,png_pipe,apng,tiff_pipe"
_COVER: Final = 0x400  # AV_DISPOSITION_ATTACHED_PIC


class _BoundedFile:
    """A file for FFmpeg that ends in an error when too much is read at once."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.seek, self.tell = file.seek, file.tell
        self.left = PACKET_MAX

    def read(self, count: int) -> bytes:
        self.left -= count
        if self.left < 0:
            raise Damaged(f"a packet or a table is larger than {PACKET_MAX >> 20} MiB")
        return self._file.read(count)


class MediaReader:
    """An open file of sound or film.

    Attributes:
        container: the ``av.container.InputContainer``, for its tags and streams.
        streams: the streams that are heard, seen or read: sound, film, subtitles; no covers and no attached files.
    """

    def __init__(self, container: Any, bounded: _BoundedFile) -> None:
        self.container = container
        self._bounded = bounded
        self.streams = tuple(
            each
            for each in container.streams
            if each.type in {"audio", "video", "subtitle"} and not each.disposition & _COVER
        )

    def packets(self) -> Iterator[Any]:
        """Yield the packets of ``streams`` in the order in which they lie in the file, as ``av.Packet``.

        Raises:
            Damaged: FFmpeg marks one as cut off, or one is larger than ``PACKET_MAX``.
        """
        for packet in self.container.demux(self.streams) if self.streams else ():
            if packet.is_corrupt:
                raise Damaged("a packet is cut off", packet.pos or 0)
            if packet.size:
                yield packet
            self._bounded.left = PACKET_MAX

    def read_tags(self) -> Iterator[tuple[str, str]]:
        """Yield names and texts of the tags of file, streams and chapters, and the streams that are no payload."""
        tables = [(self.container.metadata, "")]
        for stream in self.container.streams:
            if stream not in self.streams:
                yield f"stream {stream.index}", str(stream.type)
            tables.append((stream.metadata, f" of stream {stream.index}"))
        tables += [(each["metadata"], " of a chapter") for each in self.container.chapters()]
        for table, place in tables:
            for key, value in table.items():
                if key.lower() not in _STRUCTURAL_TAGS:
                    yield key + place, value


@contextmanager
def open_media(file: BinaryIO, name: str | None = None) -> Iterator[MediaReader]:
    """Open sound or film with FFmpeg.

    Args:
        file: read from its beginning.
        name: FFmpeg's name of the format; None lets it find out.

    Raises:
        Damaged: FFmpeg cannot open it, or it is shorter than it says. Errors inside the block become it as well.
        ExtraMissing: E-EXTRA-001, PyAV is not installed.
    """
    av = load_library("av")
    _check_lengths(file)
    file.seek(0)
    bounded = _BoundedFile(file)
    with (
        decoding("FFmpeg"),
        av.open(
            bounded,
            format=name,
            # No playlist, which would open other files and addresses.
            container_options={"format_whitelist": _DEMUXERS},
            metadata_errors="replace",
            buffer_size=1 << 18,
        ) as container,
    ):
        yield MediaReader(container, bounded)


def find_setup(stream: Any) -> tuple[str, bytes]:
    """Return the codec of a stream, and what decoding needs apart from packets, the same in every container.

    Returns:
        FFmpeg's name of the codec, and the setup without comments; b"" of codecs whose packets are enough.
    """
    context = stream.codec_context
    if context is None:
        return f"unknown-{stream.type}", b""
    codec, setup = str(context.codec.canonical_name), bytes(context.extradata or b"")
    if codec in {"aac", "mp3", "mp2", "mp1", "vp8", "vp9"}:
        return codec, b""
    if codec in {"vorbis", "theora"}:
        first, _comment, tables = _split_headers(setup)
        return codec, first + tables
    if codec == "hevc":
        return codec, _clear_completeness(setup)
    # The version and the number of channels stand before; MP4 writes another version.
    return codec, setup[9:] if codec == "opus" else setup


def strip_framing(codec: str, data: bytes) -> bytes:
    """Return a packet of AAC, MP3, MP2 or MP1 without what only its file format puts before it.

    That is the header of ADTS, which MP4 and Matroska leave out, and bytes between two frames, which FFmpeg gives with
    the second one. It is b"" if nothing of the packet is a frame. Packets of other codecs are returned as they are.
    """
    if codec == "aac":
        is_framed = len(data) > 9 and data[0] == 0xFF and data[1] & 0xF6 == 0xF0
        return data[7 if data[1] & 1 else 9 :] if is_framed else data
    if codec not in {"mp3", "mp2", "mp1"}:
        return data
    at = data.find(b"\xff")
    while at >= 0:
        if find_frame_size(data[at : at + 7]) == len(data) - at:
            return data[at:]
        at = data.find(b"\xff", at + 1)
    # Frames of free bit rate say no size.
    return data if data[:1] == b"\xff" else b""


def _split_headers(setup: bytes) -> tuple[bytes, bytes, bytes]:
    """Split the three headers of Vorbis or Theora, laced as Xiph does or each behind its length."""
    sizes, at = [], 1
    if setup[:1] == b"\x02":
        for _ in range(2):
            size = 0
            while setup[at : at + 1] == b"\xff":
                size, at = size + 255, at + 1
            sizes.append(size + int.from_bytes(setup[at : at + 1], "big"))
            at += 1
        second = at + sizes[0]
        return setup[at:second], setup[second : second + sizes[1]], setup[second + sizes[1] :]
    parts, at = [], 0
    for _ in range(3):
        size = int.from_bytes(setup[at : at + 2], "big")
        parts.append(setup[at + 2 : at + 2 + size])
        at += 2 + size
    return parts[0], parts[1], parts[2]


def _clear_completeness(setup: bytes) -> bytes:
    """Clear the bits of an hvcC that say whether all parameter sets stand in it; MP4 sets them, Matroska does not."""
    cleared = bytearray(setup)
    at = 23
    while setup[:1] == b"\1" and at + 3 <= len(setup):
        cleared[at] &= 0x7F
        count = int.from_bytes(setup[at + 1 : at + 3], "big")
        at += 3
        for _ in range(count):
            at += 2 + int.from_bytes(setup[at : at + 2], "big")
    return bytes(cleared)


def _check_lengths(file: BinaryIO) -> None:
    """Refuse a file that is shorter than it says, and tables of MP4 that promise samples for nothing."""
    file.seek(0)
    head = file.read(HEAD)
    size = file.seek(0, io.SEEK_END)
    match sniff(head):
        case Format.MP4:
            _check_boxes(file, 0, size)
        case Format.MATROSKA:
            _check_segment(head, size)
        case Format.AVI if int.from_bytes(head[4:8], "little") + 8 > size:
            raise Damaged("the file is cut off: its list is longer", size)
        case Format.OGG:
            start = max(size - 2 * _OGG_PAGE_MAX, 0)
            file.seek(start)
            tail = file.read()
            at = tail.rfind(b"OggS\0")
            segments = tail[at + 27 : at + 27 + tail[at + 26]] if 0 <= at < len(tail) - 27 else b""
            if at >= 0 and at + 27 + len(segments) + sum(segments) > len(tail):
                raise Damaged("the last page is cut off", start + at)


def _check_boxes(file: BinaryIO, start: int, end: int) -> None:
    at = start
    while at + 8 <= end:
        file.seek(at)
        head = file.read(28)
        name, width = head[4:8], 8
        length = int.from_bytes(head[:4], "big")
        if length == 1:
            length, width = int.from_bytes(head[8:16], "big"), 16
        length = length or end - at
        if length < width or at + length > end:
            raise Damaged(f"the box {name.decode('latin-1')!r} is cut off", at)
        if name in _FOLDERS:
            _check_boxes(file, at + width, at + length)
        body = head[width:]
        # A few bytes here make FFmpeg allocate 24 for each sample, before it looks for one.
        promised = {
            b"stsz": int.from_bytes(body[8:12], "big") if body[4:8] != bytes(4) else 0,
            b"trun": int.from_bytes(body[4:8], "big") if not body[1:3].strip(b"\0") else 0,
        }
        if promised.get(name, 0) > max(_SAMPLES_MAX, end):
            raise Damaged(f"{promised[name]:,} samples are promised, in {end:,} bytes", at)
        at += length


def _check_segment(head: bytes, size: int) -> None:
    """Hold the segment of a Matroska file against the file; one of unknown length goes to the end."""
    at = head.find(_SEGMENT)
    if at < 0 or len(head) < at + 12:
        raise Damaged("there is no segment")
    lead = head[at + 4]
    width = 9 - lead.bit_length() if lead else 0
    length = int.from_bytes(head[at + 4 : at + 4 + width], "big") & (1 << 7 * width) - 1
    if width and length != (1 << 7 * width) - 1 and at + 4 + width + length > size:
        raise Damaged("the file is cut off: its segment is longer", size)
