"""What a file is for, as one digest: pixels, samples or packets, without anything that is only said about them.

Renaming, tagging anew, scrubbing and another compression level of a PNG leave it as it was. Each method has a number;
a change of what it covers gets another one. What a method does not cover: how long a frame of a film is shown, colour
profiles, orientation, samples trimmed from the ends of coded sound, and the frame of an MP3 that only describes the
others.

Methods: ``pixels-rgba8/1``, ``pixels-rgba16/1`` and ``pixels-raw/1`` are size, number of frames and their pixels.
``pcm/1`` is rate, channels, depth and the samples, little-endian and signed. ``packets/2`` is what decoding needs of
each stream and its packets, streams put together in the order of their digests. ``bytes/1`` is the bytes of any other
file.

Invariant: what is hashed begins with the words of the method, so that no two methods give one digest for two things.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO, Final

import numpy as np

from twice.assets.errors import PayloadRefused
from twice.assets.log.models import Measured
from twice.assets.media.archives import ByteRange, size_of
from twice.assets.media.av import check_chunk, find_setup, open_media, strip_framing
from twice.assets.media.images import PLUGINS, ImageReader
from twice.assets.media.sniff import Damaged, Format, decoding, load_library, sniff_file
from twice.foundation.digests import Algorithm, Digest, digest_parts, new_hasher
from twice.foundation.printable import pluralize

NO_PAYLOAD: Final = "bytes/1"
"""The method of a file that is neither picture nor sound: its bytes."""

PACKETS: Final = "packets/2"

RETIRED_METHODS: Final = frozenset({"packets/1"})
"""Methods of earlier versions: a log that holds one is read, and its file needs a new seal."""

DEPTHS: Final = {
    "PCM_S8": 8, "PCM_U8": 8, "PCM_16": 16, "PCM_24": 24, "PCM_32": 32, "FLOAT": 32, "DOUBLE": 64,
}  # fmt: skip
"""Bits of a sample, by soundfile's name of its form; other forms are coded."""

_SAMPLED: Final = frozenset({Format.WAV, Format.AIFF, Format.FLAC})
_PACKETED: Final = frozenset(
    {Format.OGG, Format.MPEG, Format.AAC, Format.MP4, Format.MATROSKA, Format.AVI}
)
_FRAMES: Final = 1 << 16  # of samples that are in memory at once
_DURATION_MAX_S: Final = 1e9  # that a log holds


def list_methods(kind: Format) -> tuple[str, ...]:
    """Return the methods by which payloads of a format are digested."""
    if kind in PLUGINS:
        return ("pixels-rgba8/1", "pixels-rgba16/1", "pixels-raw/1")
    if kind in _SAMPLED:
        return ("pcm/1", PACKETS)
    return (PACKETS,) if kind in _PACKETED else (NO_PAYLOAD,)


@dataclass(frozen=True, slots=True)
class PayloadDigest:
    """The payload of a file: the method, and ``sha256:`` with 64 hexadecimal digits.

    The media type is that of the first bytes. ``measured`` is what was read on the way, without loudness; of a film, only
    its sound.
    """

    method: str
    digest: str
    media_type: str
    measured: Measured


def digest_payload(path: Path) -> PayloadDigest:
    """Return the payload of a file on disk.

    Raises:
        PayloadRefused: E-PAYLOAD-001, the file cannot be read, or is damaged.
        ExtraMissing: E-EXTRA-001, the library that reads the format is not installed.
    """
    try:
        with path.open("rb") as file:
            return digest_open_file(file, str(path))
    except OSError as error:
        raise _refuse(str(path), error.strerror or str(error)) from error


def digest_open_file(file: BinaryIO, name: str) -> PayloadDigest:
    """Return the payload of an open file that can seek; ``name`` is for messages only.

    Raises:
        PayloadRefused: E-PAYLOAD-001, the bytes are damaged.
        ExtraMissing: E-EXTRA-001, the library that reads the format is not installed.
    """
    kind = sniff_file(file)
    method, measured = NO_PAYLOAD, Measured()
    try:
        if kind in PLUGINS:
            method, digest, measured = _digest_pixels(file)
        elif kind in _SAMPLED:
            method, digest, measured = _digest_samples(file)
        elif kind in _PACKETED:
            method, digest, measured = _digest_packets(file)
        else:
            file.seek(0)
            digest = digest_parts(iter(lambda: file.read(1 << 20), b""), Algorithm.SHA256)
    except Damaged as damage:
        raise _refuse(name, damage.why) from damage
    return PayloadDigest(method, str(digest), str(kind), measured)


def _digest_pixels(file: BinaryIO) -> tuple[str, Digest, Measured]:
    reader = ImageReader(file)
    method = "pixels-raw/1" if reader.is_raw else "pixels-rgba8/1"
    if reader.is_deep:
        method = "pixels-rgba16/1"

    def parts() -> Iterator[bytes | memoryview]:
        yield f"{method} {reader.width} {reader.height} {reader.count}\n".encode()
        for pixels, shown_ms in reader.frames():
            rows, columns = pixels.shape[:2]
            if reader.is_raw:
                yield f"{reader.mode} {(columns, rows)}\n".encode()
            elif not reader.is_deep or reader.count > 1:
                yield f"{columns} {rows} {shown_ms}\n".encode()
            plain = pixels.astype(">u2") if reader.is_deep else np.ascontiguousarray(pixels)
            yield plain.reshape(-1).view(np.uint8).data

    measured = Measured(
        width_px=reader.width,
        height_px=reader.height,
        mode=reader.mode,
        decoder=_name_libraries("PIL", "av") if reader.is_deep else _name_libraries("PIL"),
    )
    return method, digest_parts(parts(), Algorithm.SHA256), measured


def _digest_samples(file: BinaryIO) -> tuple[str, Digest, Measured]:
    soundfile = load_library("soundfile")
    # libsndfile seeks before the beginning when a length is damaged; a range stays at its beginning.
    whole = ByteRange(file, 0, size_of(file))
    check_chunk(file)
    with decoding("libsndfile"), soundfile.SoundFile(whole) as sound:
        bits = DEPTHS.get(sound.subtype)
        if bits is not None:
            form = "float" if sound.subtype in {"FLOAT", "DOUBLE"} else "integer"
            head = f"pcm/1 {sound.samplerate} {sound.channels} {bits} {form}\n".encode()
            digest = digest_parts(chain([head], _read_samples(sound, bits, form)), Algorithm.SHA256)
            measured = Measured(
                duration_s=sound.frames / sound.samplerate,
                sample_rate_hz=sound.samplerate,
                bit_depth=bits,
                channels=sound.channels,
                decoder=_name_libraries("soundfile"),
            )
            return "pcm/1", digest, measured
    return _digest_packets(file)


def _read_samples(sound: Any, bits: int, form: str) -> Iterator[bytes]:
    """Yield the samples, little-endian; integers in as many bytes as their bits take."""
    read_as = f"float{bits}" if form == "float" else "int16" if bits <= 16 else "int32"
    kind, total = np.dtype(read_as).newbyteorder("<"), 0
    while len(block := sound.read(_FRAMES, dtype=read_as, always_2d=True)):
        total += len(block)
        data = np.ascontiguousarray(block, dtype=kind)
        if kind.itemsize > bits // 8:
            # libsndfile gives the highest bit first: the lower bytes are nothing.
            data = data.view(np.uint8).reshape(-1, kind.itemsize)[:, kind.itemsize - bits // 8 :]
        yield data.tobytes()
    if total != sound.frames:
        raise Damaged(f"{total:,} of {pluralize(sound.frames, 'frame is', 'frames are')} there")


class _StreamDigest:
    """One stream: its digest in the making, and when its packets begin and end."""

    def __init__(self, stream: Any) -> None:
        self.codec, setup = find_setup(stream)
        is_sound = stream.type == "audio" and stream.codec_context
        self.rate = int(stream.codec_context.sample_rate) if is_sound else 0
        self.channels = int(stream.codec_context.channels) if is_sound else 0
        # How many blocks of these are in one packet is FFmpeg's choice.
        self._is_framed = not self.codec.startswith(("pcm_", "adpcm_"))
        self.times_s: list[float] = []
        self.hasher = new_hasher(Algorithm.SHA256)
        head = f"{PACKETS} {self.codec} {self.rate} {self.channels} {len(setup)}\n"
        self.hasher.update(head.encode() + setup)

    def add(self, packet: Any) -> None:
        data = strip_framing(self.codec, bytes(packet))
        if not data:
            return
        if self._is_framed:
            self.hasher.update(len(data).to_bytes(4))
        self.hasher.update(data)
        start = float((packet.pts or 0) * packet.time_base)
        end = start + float((packet.duration or 0) * packet.time_base)
        begin, last = self.times_s or (start, 0.0)
        self.times_s = [min(begin, start), max(last, end)]


def _digest_packets(file: BinaryIO) -> tuple[str, Digest, Measured]:
    with open_media(file) as media:
        streams = {each.index: _StreamDigest(each) for each in media.streams}
        for packet in media.packets():
            streams[packet.stream_index].add(packet)
    used = [each for each in streams.values() if each.times_s]
    if not used:
        raise Damaged("there is not one packet in it")
    measured = Measured(decoder=_name_libraries("av"))
    sound = next((each for each in used if each.rate), None)
    if sound is not None:
        duration_s = max(each.times_s[1] - max(each.times_s[0], 0.0) for each in used)
        measured = Measured(
            duration_s=min(max(duration_s, 0.0), _DURATION_MAX_S),
            sample_rate_hz=sound.rate,
            channels=sound.channels or None,
            decoder=measured.decoder,
        )
    raws = sorted(each.hasher.digest() for each in used)
    head = f"{PACKETS} {len(raws)}\n".encode()
    return PACKETS, digest_parts([head, *raws], Algorithm.SHA256), measured


def _name_libraries(*modules: str) -> str:
    """Name libraries with their versions, and the decoders inside them."""
    said = []
    for module in modules:
        library = load_library(module)
        name = {"PIL": "pillow", "av": "PyAV"}.get(module, module)
        said.append(f"{name} {library.__version__}")
        if module == "av":
            parts = ("libavformat", "libavcodec")
            versions = (".".join(map(str, library.library_versions[part])) for part in parts)
            said += map(" ".join, zip(parts, versions, strict=True))
        elif module == "soundfile":
            said.append(f"libsndfile {library.__libsndfile_version__}")
    return ", ".join(said)


def _refuse(name: str, why: str) -> PayloadRefused:
    return PayloadRefused(
        f"The payload of {name} cannot be told: {why}.",
        "Expected a whole file of the kind that its first bytes say.",
        "Export it again, or look at it with a program that opens it.",
    )
