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
_CHUNKS_MAX: Final = 1000
_LENGTH_UNKNOWN: Final = 0x7FFF0000  # A program that writes into a pipe states the most.
_FOLDERS: Final = frozenset({b"moov", b"trak", b"mdia", b"minf", b"stbl", b"moof", b"traf"})
_SEGMENT: Final = b"\x18\x53\x80\x67"
_OGG_PAGE_MAX: Final = 27 + 255 + 255 * 255
_STRUCTURAL_TAGS: Final = frozenset(
    {"major_brand", "minor_version", "compatible_brands", "duration", "language"}
)
# No playlist, which would open other files and addresses.
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
        kinds = {"audio", "video", "subtitle"}
        self.streams = tuple(
            each
            for each in container.streams
            if each.type in kinds and not each.disposition & _COVER
        )

    def packets(self) -> Iterator[Any]:
        """Yield the packets of ``streams`` in the order in which they lie in the file, as ``av.Packet``.

        Raises:
            Damaged: FFmpeg marks one as cut off, or one is larger than ``PACKET_MAX``.
        """
        for packet in self.container.demux(self.streams) if self.streams else ():
            if packet.is_corrupt:
                raise Damaged("a packet is cut off")
            if packet.size:
                yield packet
            self._bounded.left = PACKET_MAX

    def read_tags(self) -> Iterator[tuple[str, str]]:
        """Yield names and texts of the tags of file, streams and chapters, and the streams that are no payload."""
        tables = [("", self.container.metadata)]
        for stream in self.container.streams:
            if stream not in self.streams:
                yield f"stream {stream.index}", str(stream.type)
            tables.append((f" of stream {stream.index}", stream.metadata))
        tables += [(" of a chapter", each["metadata"]) for each in self.container.chapters()]
        for place, table in tables:
            for key, value in table.items():
                if key.lower() not in _STRUCTURAL_TAGS:
                    yield key + place, value


@contextmanager
def open_media(file: BinaryIO, name: str | None = None) -> Iterator[MediaReader]:
    """Open sound or film with FFmpeg, whose name of the format is ``name``; None lets it find out.

    Raises:
        Damaged: FFmpeg cannot open it, or it is shorter than it says. Errors inside the block become it as well.
        ExtraMissing: E-EXTRA-001, PyAV is not installed.
    """
    av = load_library("av")
    _check_lengths(file)
    file.seek(0)
    bounded = _BoundedFile(file)
    options = {"format_whitelist": _DEMUXERS}
    with (
        decoding("FFmpeg"),
        av.open(
            bounded,
            format=name,
            container_options=options,
            metadata_errors="replace",
            buffer_size=1 << 18,
        ) as container,
    ):
        yield MediaReader(container, bounded)


def find_setup(stream: Any) -> tuple[str, bytes]:
    """Return FFmpeg's name of the codec of a stream, and what decoding needs apart from packets.

    It has no comments, and is the same in every container; b"" for codecs whose packets are enough.
    """
    context = stream.codec_context
    if context is None:
        return f"unknown-{stream.type}", b""
    codec, setup = str(context.codec.canonical_name), bytes(context.extradata or b"")
    match codec:
        case "aac" | "mp3" | "mp2" | "mp1" | "vp8" | "vp9":
            setup = b""
        case "vorbis" | "theora":  # The comment stands between the first header and the tables.
            first, size, tables = {
                "vorbis": (b"\x01vorbis", 30, b"\x05vorbis"),
                "theora": (b"\x80theora", 42, b"\x82theora"),
            }[codec]
            at = setup.find(first)
            setup = setup[at : at + size] + setup[setup.rfind(tables) :]
        case "hevc":
            setup = _clear_completeness(setup)
        case (
            "opus"
        ):  # The version and the number of channels stand before; MP4 writes another version.
            setup = setup[9:]
    return codec, setup


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


def _clear_completeness(setup: bytes) -> bytes:
    """Clear the bits of an hvcC that say whether all parameter sets stand in it; MP4 sets them, Matroska does not."""
    cleared = bytearray(setup)
    at = 23
    while setup[:1] == b"\1" and at + 3 <= len(setup):
        cleared[at] &= 0x7F
        count = int.from_bytes(setup[at + 1 : at + 3])
        at += 3
        for _ in range(count):
            at += 2 + int.from_bytes(setup[at : at + 2])
    return bytes(cleared)


def _check_lengths(file: BinaryIO) -> None:
    """Refuse a file that is shorter than it says, and tables of MP4 that promise samples for nothing."""
    file.seek(0)
    head = file.read(HEAD)
    size = file.seek(0, io.SEEK_END)
    match sniff(head):
        case Format.MP4:
            _check_boxes(file, size)
        case Format.AVI if int.from_bytes(head[4:8], "little") + 8 > size:
            raise Damaged("the file is cut off: its list is longer")
        case Format.MATROSKA:
            at = head.find(_SEGMENT)
            if at < 0 or len(head) < at + 12:
                raise Damaged("there is no segment")
            width = 9 - head[at + 4].bit_length() if head[at + 4] else 0
            start, unknown = at + 4 + width, (1 << 7 * width) - 1
            length = int.from_bytes(head[at + 4 : start]) & unknown
            if width and length != unknown and start + length > size:
                raise Damaged("the file is cut off: its segment is longer")
        case Format.OGG:
            file.seek(max(size - 2 * _OGG_PAGE_MAX, 0))
            _, mark, page = file.read().rpartition(b"OggS\0")
            segments = page[22 : 22 + page[21]] if len(page) > 22 else b""
            if mark and 22 + len(segments) + sum(segments) > len(page):
                raise Damaged("the last page is cut off")


def check_chunk(file: BinaryIO) -> None:
    """Refuse a WAV or AIFF that ends before its samples do; libraries read what is there."""
    size = file.seek(0, io.SEEK_END)
    file.seek(0)
    kind, at = file.read(4), 12
    if kind not in {b"RIFF", b"RIFX", b"FORM"}:
        return
    for _ in range(_CHUNKS_MAX):
        file.seek(at)
        head = file.read(8)
        length = int.from_bytes(head[4:], "little" if kind == b"RIFF" else "big")
        at += 8 + length
        if head[:4] in {b"data", b"SSND"} and size < at and length < _LENGTH_UNKNOWN:
            raise Damaged(f"the samples are cut off: {at - size:,} bytes are not there")
        if at >= size:
            return
        at += length % 2


def _check_boxes(file: BinaryIO, size: int) -> None:
    spans = [(0, size)]  # A list and no recursion: boxes may be nested a thousand deep.
    for start, end in spans:
        at = start
        while at + 8 <= end:
            file.seek(at)
            head = file.read(28)
            name, width, length = head[4:8], 8, int.from_bytes(head[:4])
            if length == 1:
                length, width = int.from_bytes(head[8:16]), 16
            length = length or end - at
            if length < width or at + length > end:
                raise Damaged(f"the box {name.decode('latin-1')!r} is cut off")
            if name in _FOLDERS:
                spans.append((at + width, at + length))
            body, promised = head[width:], 0
            # A few bytes here make FFmpeg allocate 24 for each sample, before it looks for one.
            if name == b"stsz" and any(body[4:8]):
                promised = int.from_bytes(body[8:12])
            elif name == b"trun" and not any(body[1:3]):
                promised = int.from_bytes(body[4:8])
            if promised > max(_SAMPLES_MAX, end):
                raise Damaged(f"{promised:,} samples are promised, in {end:,} bytes")
            at += length
