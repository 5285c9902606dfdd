"""Coded sound and video as one digest: what decoding needs, and every packet, whatever container they lie in.

MP3 frames between any tags, Ogg packets without their comments, AAC in ADTS and in MP4, blocks of Matroska. The
first frame of an MP3 that only describes the others (Xing, LAME) is not counted.

Invariant: tracks are hashed apart and put together in the order of their digests, so no container's order counts.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from twice.assets.containers import ebml, oggpackets
from twice.assets.containers.id3 import end_of_tags
from twice.assets.containers.mp4samples import opus_setup, tracks
from twice.assets.containers.mpegaudio import frames
from twice.assets.containers.parts import Damaged
from twice.assets.containers.sniffing import Format
from twice.assets.containers.source import Source
from twice.foundation.digests import Algorithm, Hasher, digest_parts, new_hasher

if TYPE_CHECKING:
    from twice.assets.payload import Fact

METHOD = "packets/1"
_CODECS = {
    "A_OPUS": "opus", "A_VORBIS": "vorbis", "A_MPEG/L3": "mp3", "A_AAC": "aac", "V_AV1": "av01",
    "V_MPEG4/ISO/AVC": "avc1", "V_VP9": "vp09", "V_VP8": "vp08",
}  # fmt: skip


class _Stream:
    """One track: its digest in the making."""

    def __init__(self, codec: str, rate: int, channels: int, setup: bytes = b"") -> None:
        self.codec, self.sample_rate, self.channels = codec, rate, channels
        self.packets = 0
        self.hasher: Hasher = new_hasher(Algorithm.SHA256)
        self.hasher.update(f"{METHOD} {codec} {rate} {channels} {len(setup)}\n".encode() + setup)

    def add(self, data: bytes) -> None:
        self.packets += 1
        self.hasher.update(len(data).to_bytes(4, "big"))
        self.hasher.update(data)


def packets(source: Source, kind: Format) -> tuple[str, str, dict[str, Fact]]:
    """Return method, digest and facts of a file of coded sound or video.

    Raises:
        Damaged: there are no packets, or they are cut off.
    """
    facts: dict[str, Fact] = {}
    match kind:
        case Format.OGG:
            streams = _ogg(source, facts)
        case Format.MP4:
            streams = _mp4(source, facts)
        case Format.MATROSKA:
            streams = _matroska(source)
        case _:
            streams = _mpeg(source, facts)
    streams = [each for each in streams if each.packets]
    if not streams:
        raise Damaged("there is not one packet in it")
    first = streams[0]
    raws = sorted(each.hasher.digest() for each in streams)
    digest = digest_parts([f"{METHOD} {len(raws)}\n".encode(), *raws], Algorithm.SHA256)
    said: dict[str, Fact] = {
        "codec": "+".join(each.codec for each in streams),
        "packets": sum(each.packets for each in streams),
    }
    sound = next((each for each in streams if each.sample_rate), first)
    if sound.sample_rate:
        said |= {"sample_rate": sound.sample_rate, "channels": sound.channels}
    return METHOD, str(digest), said | facts


def _mpeg(source: Source, facts: dict[str, Fact]) -> list[_Stream]:
    stream: _Stream | None = None
    samples = 0
    for frame in frames(source, end_of_tags(source)):
        head = frame.header
        stream = stream or _Stream(head.codec, head.sample_rate, head.channels)
        if not frame.is_info:
            stream.add(frame.data[head.skipped :])
            samples += head.samples
    if stream is not None:
        facts["duration_s"] = samples / stream.sample_rate
    return [] if stream is None else [stream]


def _ogg(source: Source, facts: dict[str, Fact]) -> list[_Stream]:
    streams: dict[int, _Stream] = {}
    held: dict[int, bytes] = {}
    for packet in oggpackets.packets(source):
        if packet.index == 0:
            streams.pop(packet.serial, None)
            held[packet.serial] = packet.data
        begun = streams.get(packet.serial)
        first = held[packet.serial]
        if begun is not None:
            if packet.index >= _headers_of(first):
                begun.add(packet.data)
        elif first[:8] == b"OpusHead":
            setup = opus_setup(first[9:], "little")
            streams[packet.serial] = _Stream(
                "opus", 48000, first[9] if len(first) > 9 else 0, setup
            )
        elif first[:7] == b"\x01vorbis" and packet.index == 2:
            rate = int.from_bytes(first[12:16], "little")
            setup = first + packet.data
            streams[packet.serial] = _Stream("vorbis", rate, first[11:12][0], setup)
        elif first[:7] != b"\x01vorbis":
            streams[packet.serial] = _Stream("ogg-" + first[:5].hex(), 0, 0, first)
    for page in oggpackets.pages(source):
        stream = streams.get(page.serial)
        if stream is not None and stream.sample_rate and page.granule > 0:
            facts["duration_s"] = page.granule / stream.sample_rate
    return list(streams.values())


def _headers_of(first: bytes) -> int:
    return 2 if first[:8] == b"OpusHead" else 3 if first[:7] == b"\x01vorbis" else 1


def _mp4(source: Source, facts: dict[str, Fact]) -> list[_Stream]:
    streams = []
    for track in tracks(source):
        if track.handler not in {"soun", "vide"}:
            continue
        rate = 48000 if track.codec == "opus" else track.sample_rate
        stream = _Stream(track.codec, rate, track.channels, track.setup)
        for data in track.samples(source):
            stream.add(data)
        if stream.packets:
            facts["duration_s"] = track.duration_s
        if track.width:
            facts |= {"width": track.width, "height": track.height}
        streams.append(stream)
    return streams


def _matroska(source: Source) -> list[_Stream]:
    streams = {
        number: _matroska_stream(track)
        for number, track in ebml.matroska_tracks(source).items()
        if track.codec
    }
    for number, data in ebml.blocks(source):
        if number in streams:
            streams[number].add(data)
    return list(streams.values())


def _matroska_stream(track: ebml.MatroskaTrack) -> _Stream:
    codec = _CODECS.get(track.codec, track.codec)
    is_sound = codec.startswith("A_") or codec in {"opus", "vorbis", "mp3", "aac"}
    rate = track.sample_rate if is_sound else 0
    setup = track.setup
    if codec == "opus":
        rate, setup = 48000, opus_setup(setup[9:], "little")
    elif codec == "vorbis":
        setup = b"".join(_without_comment(setup))
    elif codec in {"aac", "mp3"}:
        setup = b""
    return _Stream(codec, rate, track.channels if is_sound else 0, setup)


def _without_comment(setup: bytes) -> Iterator[bytes]:
    """Yield the first and third of three headers in one packet, as Xiph laces them."""
    sizes, at = [], 1
    for _ in range(2):
        size = 0
        while at < len(setup):
            size, at = size + setup[at], at + 1
            if setup[at - 1] != 255:
                break
        sizes.append(size)
    yield setup[at : at + sizes[0]]
    yield setup[at + sum(sizes) :]
