"""Samples (coded frames) of the tracks of an MP4 or MOV file, through its sample tables.

It decodes nothing, and reads no fragmented files: of those it says so.

Source: ISO/IEC 14496-12, 8.7 (sample sizes, chunks), 14496-14 (esds).

Invariant: a table is read piece by piece; what it says is held against the file's size.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from twice.assets.containers.boxes import boxes, find
from twice.assets.containers.mpegaudio import ADTS_RATES
from twice.assets.containers.source import Source
from twice.assets.media.sniff import Damaged

_SOUND = "soun"
_SETUP = {"avcC", "hvcC", "av1C", "vpcC", "dOps", "dfLa", "alac"}
_OBJECT_TYPES = {0x40: "aac", 0x66: "aac", 0x67: "aac", 0x68: "aac", 0x69: "mp3", 0x6B: "mp3"}


@dataclass(frozen=True, slots=True)
class Track:
    """A track: its codec and what decoding it needs, and the boxes of its sample table."""

    handler: str
    codec: str
    setup: bytes
    sample_rate: int
    channels: int
    width: int
    height: int
    duration_s: float
    tables: Source

    def samples(self, whole: Source) -> Iterator[bytes]:
        """Yield the coded frames in decoding order.

        Raises:
            Damaged: the tables point outside the file, or there are none.
        """
        total = 0
        for offset, size in _places(self.tables):
            data = whole.read(offset, size)
            total += size
            if total > 2 * whole.size:
                raise Damaged("samples lie on each other", offset)
            if len(data) != size:
                raise Damaged("a sample lies outside the file", offset)
            yield data


def tracks(source: Source) -> Iterator[Track]:
    """Yield the tracks that have samples.

    Raises:
        Damaged: there is no movie, or the movie is in fragments.
    """
    movie = find(source, "moov")
    if movie is None:
        raise Damaged("there is no moov box")
    if find(movie, "mvex") is not None:
        raise Damaged("the movie is in fragments")
    for box in boxes(movie):
        media = find(box.source, "mdia") if box.name == "trak" else None
        tables = None if media is None else find(media, "minf", "stbl")
        entry = None if tables is None else find(tables, "stsd")
        if media is None or tables is None or entry is None:
            continue
        header = find(media, "hdlr")
        handler = "" if header is None else header.read(8, 4).decode("latin-1")
        yield _track(handler, entry, tables, _duration_s(find(media, "mdhd")))


def _track(handler: str, entry: Source, tables: Source, duration_s: float) -> Track:
    first = next(iter(boxes(entry, 8)), None)
    if first is None:
        raise Damaged("a track does not say how it is coded")
    rate = channels = width = height = 0
    codec, setup, inner = first.name, b"", 78
    if handler == _SOUND:
        version = first.source.number(8, 2, big=True)
        channels = first.source.number(16, 2, big=True)
        rate = first.source.number(24, 2, big=True)
        inner = 28 + {1: 16, 2: 36}.get(version, 0)
    else:
        width, height = first.source.number(24, 2, big=True), first.source.number(26, 2, big=True)
    for box in boxes(first.source, inner):
        if box.name == "esds":
            codec, rate, channels = _described(box.source, codec, rate, channels)
        elif box.name in _SETUP:
            setup = box.source.read(0, 1 << 20)
            if box.name == "dOps":
                codec, setup = "opus", opus_setup(setup[1:], "big")
    return Track(handler, codec, setup, rate, channels, width, height, duration_s, tables)


def opus_setup(head: bytes, order: str) -> bytes:
    """Return the settings for an Opus decoder in one form: channels, pre-skip, gain, mapping."""
    big = order == "big"

    def number(at: int, width: int) -> int:
        return int.from_bytes(head[at : at + width], "big" if big else "little")

    fields = (head[:1], number(1, 2).to_bytes(2, "big"), number(7, 2).to_bytes(2, "big"))
    return b"".join(fields) + head[9:]


def _described(box: Source, codec: str, rate: int, channels: int) -> tuple[str, int, int]:
    """Codec, rate and channels by an elementary stream descriptor."""
    data = box.read(4, 512)
    at = data.find(b"\x04")
    while at >= 0 and at + 1 < len(data):
        end = at + 1
        while end < len(data) and data[end] & 0x80 and end - at < 5:
            end += 1
        kind = data[end + 1] if end + 1 < len(data) else 0
        if kind in _OBJECT_TYPES:
            codec = _OBJECT_TYPES[kind]
            inner = data[end + 14 : end + 24]
            low = next((i for i, byte in enumerate(inner[1:], 1) if not byte & 0x80), 0)
            said = inner[low + 1 : low + 3]
            if codec == "aac" and inner[:1] == b"\x05" and len(said) == 2:
                index = (said[0] & 7) << 1 | said[1] >> 7
                rate = ADTS_RATES[index] if index < len(ADTS_RATES) else rate
                channels = said[1] >> 3 & 15 or channels
            break
        at = data.find(b"\x04", at + 1)
    return codec, rate, channels


def _duration_s(header: Source | None) -> float:
    if header is None:
        return 0.0
    wide = header.number(0, 1) == 1
    scale = header.number(20 if wide else 12, 4, big=True)
    ticks = header.number(24 if wide else 16, 8 if wide else 4, big=True)
    return ticks / scale if scale else 0.0


def _places(tables: Source) -> Iterator[tuple[int, int]]:
    """Offset and size of each sample."""
    sizes, runs = find(tables, "stsz"), find(tables, "stsc")
    starts, wide = find(tables, "stco"), 4
    if starts is None:
        starts, wide = find(tables, "co64"), 8
    if sizes is None or runs is None or starts is None:
        raise Damaged("a track has no table of its samples")
    same, count = sizes.number(4, 4, big=True), sizes.number(8, 4, big=True)
    if not same and 12 + 4 * count > sizes.size:
        raise Damaged("the table of sample sizes is cut off")
    chunk_count = min(starts.number(4, 4, big=True), (starts.size - 8) // wide)
    run_count = min(runs.number(4, 4, big=True), (runs.size - 8) // 12)
    run, sample = 0, 0
    for chunk in range(chunk_count):
        while run + 1 < run_count and runs.number(8 + 12 * (run + 1), 4, big=True) <= chunk + 1:
            run += 1
        offset = starts.number(8 + wide * chunk, wide, big=True)
        for _ in range(min(runs.number(12 + 12 * run, 4, big=True), count - sample)):
            size = same or sizes.number(12 + 4 * sample, 4, big=True)
            yield offset, size
            offset, sample = offset + size, sample + 1
