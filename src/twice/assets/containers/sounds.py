"""Parts of WAV, AIFF, FLAC, Ogg and MPEG audio files.

Source: EBU Tech 3285 (bext), iXML 3.0, RIFF INFO, RFC 9639 (FLAC), Xiph.Org Vorbis comment, RFC 7845.

Invariant: samples and packets are payload; everything else is structure that decoding needs, or metadata.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator
from typing import Final

from twice.assets.containers import id3, mpegaudio, oggpackets
from twice.assets.containers.iff import Chunk, chunks, end_of_form
from twice.assets.containers.parts import Kind, Part, unread
from twice.assets.containers.pictures import after
from twice.assets.containers.source import Source
from twice.assets.containers.unpacking import Budget
from twice.assets.media.sniff import Damaged

WAV_STRUCTURE: Final = frozenset({"fmt ", "fact", "ds64", "PEAK", "cue ", "smpl", "inst", "slnt"})
AIFF_STRUCTURE: Final = frozenset({"COMM", "FVER", "INST", "PEAK"})
_BEXT: Final = (
    ("Description", 0, 256), ("Originator", 256, 32), ("OriginatorReference", 288, 32),
    ("reserved", 412, 190),
)  # fmt: skip
_PADDING: Final = frozenset({"JUNK", "FLLR", "PAD ", "junk"})


def wav(source: Source, budget: Budget) -> Iterator[Part]:
    """Yield the chunks of a WAV file, the fields of bext and LIST apart, and any bytes after it."""
    del budget
    for chunk in chunks(source):
        if not chunk.is_whole and chunk.name != "data":
            raise Damaged(f"the chunk {chunk.name!r} is cut off", chunk.offset)
        yield from _wav_part(chunk)
        if not chunk.is_whole:
            yield unread("data", "the samples are cut off", chunk.offset)
    yield from after(source, end_of_form(source))


def _wav_part(chunk: Chunk) -> Iterator[Part]:
    body, at = chunk.source, chunk.offset + 8
    if chunk.name == "data":
        yield Part("data", Kind.PAYLOAD, body, at)
    elif chunk.name in WAV_STRUCTURE:
        yield Part(chunk.name.strip(), Kind.STRUCTURE, body, at)
    elif chunk.name.lower() == "id3 ":
        yield Part("ID3", Kind.FILE, body, at, "ID3")
    elif chunk.name == "bext":
        for key, place, size in _BEXT:
            yield Part(f"bext {key}", Kind.METADATA, body.sub(place, size), at + place, key)
        yield Part("bext CodingHistory", Kind.METADATA, body.sub(602), at + 602, "CodingHistory")
    elif chunk.name == "LIST":
        for inner in chunks(body, 4, big=False):
            key = inner.name.strip()
            yield Part(f"LIST {key}", Kind.METADATA, inner.source, at + inner.offset + 8, key)
    elif chunk.name in _PADDING:
        if any(piece.strip(b"\0") for piece in body.pieces()):
            yield Part(chunk.name, Kind.TRAILING, body, at)
    else:
        key = chunk.name.strip()
        yield Part(key if key.isprintable() else "chunk", Kind.METADATA, body, at, key)


def aiff(source: Source, budget: Budget) -> Iterator[Part]:
    """Yield the chunks of an AIFF file, and any bytes after its end."""
    del budget
    for chunk in chunks(source):
        at = chunk.offset + 8
        if not chunk.is_whole:
            raise Damaged(f"the chunk {chunk.name!r} is cut off", chunk.offset)
        if chunk.name == "SSND":
            yield Part("SSND", Kind.PAYLOAD, chunk.source, at)
        elif chunk.name in AIFF_STRUCTURE:
            yield Part(chunk.name, Kind.STRUCTURE, chunk.source, at)
        elif chunk.name == "ID3 ":
            yield Part("ID3", Kind.FILE, chunk.source, at, "ID3")
        else:
            key = chunk.name.strip()
            yield Part(key if key.isprintable() else "chunk", Kind.METADATA, chunk.source, at, key)
    yield from after(source, end_of_form(source))


def flac_blocks(source: Source) -> Iterator[tuple[int, int, Source]]:
    """Type, offset and contents of the blocks before the frames of a FLAC file.

    Raises:
        Damaged: a block is cut off.
    """
    offset = 4
    while True:
        kind, size = source.number(offset, 1), source.number(offset + 1, 3, big=True)
        if offset + 4 + size > source.size:
            raise Damaged("a FLAC block is cut off", offset)
        yield kind & 0x7F, offset, source.sub(offset + 4, size)
        offset += 4 + size
        if kind & 0x80:
            return


def flac(source: Source, budget: Budget) -> Iterator[Part]:
    """Yield the blocks of a FLAC file, its pictures as files, and its frames."""
    del budget
    end = 4
    for kind, offset, body in flac_blocks(source):
        end, at = offset + 4 + body.size, offset + 4
        if kind == 4:
            yield from comments(body, at)
        elif kind == 6:
            yield from _picture("FLAC picture", body, at)
        elif kind in {0, 3}:
            yield Part("STREAMINFO" if not kind else "SEEKTABLE", Kind.STRUCTURE, body, at)
        elif kind != 1 or any(piece.strip(b"\0") for piece in body.pieces()):
            name = {1: "padding", 2: "APPLICATION", 5: "CUESHEET"}.get(kind, f"block {kind}")
            yield Part(f"FLAC {name}", Kind.METADATA, body, at, name)
    tail = id3.start_of_end_tags(source, end)
    yield Part("frames", Kind.PAYLOAD, source.sub(end, tail - end), end)
    yield from id3.end_tags(source, tail)


def comments(body: Source, at: int | None) -> Iterator[Part]:
    """Yield the vendor and the fields of a Vorbis comment; pictures in it as files."""
    size = body.number(0, 4)
    yield Part("vendor", Kind.METADATA, body.sub(4, size), None if at is None else at + 4, "vendor")
    offset = 4 + size
    count = body.number(offset, 4)
    offset += 4
    for _ in range(count):
        size = body.number(offset, 4)
        if offset + 4 > body.size:
            raise Damaged("a comment is cut off", offset)
        field = body.sub(offset + 4, size)
        head = field.read(0, 256)
        name, equals, _ = head.partition(b"=")
        key = name.decode("utf-8", "replace") if equals else ""
        place = None if at is None else at + offset + 4
        if key.upper() in {"METADATA_BLOCK_PICTURE", "COVERART"}:
            yield from _coded_picture(key, field.read(len(name) + 1, 96 << 20))
        else:
            yield Part(f"comment {key[:60]}", Kind.METADATA, field, place, key)
        offset += 4 + size
    rest = body.sub(offset)
    if rest.size > 8 and any(piece.strip(b"\0\1") for piece in rest.pieces()):
        yield Part("after the comments", Kind.TRAILING, rest, None if at is None else at + offset)


def _coded_picture(key: str, text: bytes) -> Iterator[Part]:
    try:
        data = Source.of_bytes(base64.b64decode(text, validate=False))
    except binascii.Error:
        yield unread(f"comment {key}", "its base64 is damaged")
        return
    if key.upper() == "COVERART":
        yield Part(f"comment {key}", Kind.FILE, data, None, key)
    else:
        yield from _picture(f"comment {key}", data, None)


def _picture(name: str, body: Source, at: int | None) -> Iterator[Part]:
    """Yield a picture block: its type and description as metadata, its data as a file."""
    offset = 8 + body.number(4, 4, big=True)
    offset += 4 + body.number(offset, 4, big=True) + 16
    size = body.number(offset, 4, big=True)
    yield Part(f"{name} description", Kind.METADATA, body.sub(8, offset - 24), at, "description")
    place = None if at is None else at + offset + 4
    yield Part(name, Kind.FILE, body.sub(offset + 4, size), place, "picture")


def ogg(source: Source, budget: Budget) -> Iterator[Part]:
    """Yield the comments of the streams of an Ogg file, and any bytes after its end."""
    del budget
    end = 0
    for page in oggpackets.pages(source):
        end = page.end
    kinds: dict[int, bytes] = {}
    for packet in oggpackets.packets(source):
        if packet.index == 0:
            kinds[packet.serial] = packet.data[:8]
        data = Source.of_bytes(packet.data)
        if packet.data[:8] == b"OpusTags":
            yield from comments(data.sub(8), None)
        elif packet.data[:7] in {b"\x03vorbis", b"\x81theora"}:
            yield from comments(data.sub(7), None)
        elif kinds[packet.serial][:5] == b"\x7fFLAC" and packet.index == 1:
            yield from comments(data.sub(4), None)
        elif kinds[packet.serial][:5] == b"\x7fFLAC" and packet.data[:1] in {b"\x06", b"\x86"}:
            yield from _picture("FLAC picture", data.sub(4), None)
        elif kinds[packet.serial][:8] in {b"Speex   ", b"fishead\0"} and packet.index == 1:
            yield Part("comments", Kind.METADATA, data, packet.offset, "comments")
    yield Part("pages", Kind.PAYLOAD, source.sub(0, end), 0)
    yield from after(source, end)


def mpeg(source: Source, budget: Budget) -> Iterator[Part]:
    """Yield the tags around MPEG audio, the bytes between its frames, and the frames."""
    del budget
    yield from id3.front_tags(source)
    start = id3.end_of_tags(source)
    if source.read(start, 4) == b"fLaC":
        yield Part("FLAC", Kind.FILE, source.sub(start), start)
        return
    tail = id3.start_of_end_tags(source, start)
    at = start
    sound = source.sub(0, tail)
    for frame in mpegaudio.frames(sound, start):
        if frame.offset > at:
            yield from _between(sound, at, frame.offset)
        at = frame.offset + frame.header.size
    yield Part("frames", Kind.PAYLOAD, source.sub(start, at - start), start)
    yield from _between(sound, at, tail)
    yield from id3.end_tags(source, tail)


def _between(source: Source, start: int, end: int) -> Iterator[Part]:
    part = source.sub(start, end - start)
    if any(piece.strip(b"\0") for piece in part.pieces()):
        yield Part("between the frames", Kind.TRAILING, part, start)
