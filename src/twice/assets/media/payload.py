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

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import Any, BinaryIO, Final

import numpy as np

from twice.assets.errors import PayloadRefused
from twice.assets.media.av import find_setup, open_media, strip_framing
from twice.assets.media.images import PLUGINS, ImageReader
from twice.assets.media.sniff import Damaged, Format, decoding, load_library, sniff_file
from twice.foundation.digests import Algorithm, Digest, Hasher, digest_parts, new_hasher
from twice.foundation.printable import pluralize

Fact = str | int | float | bool

NO_PAYLOAD: Final = "bytes/1"
"""The method of a file that is neither picture nor sound: its bytes."""

PACKETS: Final = "packets/2"

RETIRED_METHODS: Final = frozenset({"packets/1"})
"""Methods of earlier versions: a log that holds one is read, and its file needs a new seal."""

DEPTHS: Final = {
    "PCM_S8": 8,
    "PCM_U8": 8,
    "PCM_16": 16,
    "PCM_24": 24,
    "PCM_32": 32,
    "FLOAT": 32,
    "DOUBLE": 64,
}
"""Bits of a sample, by soundfile's name of its form; other forms are coded."""

_PACKETED: Final = frozenset(
    {Format.OGG, Format.MPEG, Format.AAC, Format.MP4, Format.MATROSKA, Format.AVI}
)
_FRAMES: Final = 1 << 16  # of samples that are in memory at once
_PIECE: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class PayloadDigest:
    """The payload of a file.

    Args:
        method: ``pixels-rgba8/1``, ``pixels-rgba16/1``, ``pixels-raw/1``, ``pcm/1``, ``packets/2`` or ``bytes/1``.
        digest: ``sha256:`` and 64 hexadecimal digits.
        facts: what was measured on the way: ``media_type`` always; ``decoder``, the libraries that read the file, with
            their versions, but for ``bytes/1``; ``width``, ``height``, ``frames``, ``mode`` of pictures;
            ``sample_rate`` (Hz), ``channels``, ``bit_depth``, ``duration_s`` of sound, ``codec`` of packets.
    """

    method: str
    digest: str
    facts: Mapping[str, Fact]


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
    try:
        if kind in PLUGINS:
            method, digest, facts = _digest_pixels(file)
        elif kind in {Format.WAV, Format.AIFF, Format.FLAC}:
            method, digest, facts = _digest_samples(file)
        elif kind in _PACKETED:
            method, digest, facts = _digest_packets(file)
        else:
            file.seek(0)
            method, facts = NO_PAYLOAD, {}
            digest = digest_parts(iter(lambda: file.read(_PIECE), b""), Algorithm.SHA256)
    except Damaged as damage:
        raise _refuse(name, damage.why) from damage
    return PayloadDigest(method, str(digest), MappingProxyType({"media_type": str(kind), **facts}))


def _digest_pixels(file: BinaryIO) -> tuple[str, Digest, dict[str, Fact]]:
    reader = ImageReader(file)
    facts: dict[str, Fact] = {
        "width": reader.width, "height": reader.height, "frames": reader.count, "mode": reader.mode,
        "decoder": _name_libraries("PIL", "av") if reader.is_deep else _name_libraries("PIL"),
    }  # fmt: skip
    if reader.is_deep:
        facts["bit_depth"] = 16
    method = (
        "pixels-rgba16/1"
        if reader.is_deep
        else "pixels-raw/1"
        if reader.is_raw
        else "pixels-rgba8/1"
    )

    def parts() -> Iterator[bytes]:
        yield f"{method} {reader.width} {reader.height} {reader.count}\n".encode()
        for pixels, shown_ms in reader.frames():
            rows, columns = pixels.shape[:2]
            if reader.is_raw:
                yield f"{reader.mode} {(columns, rows)}\n".encode()
            elif not reader.is_deep or reader.count > 1:
                yield f"{columns} {rows} {shown_ms}\n".encode()
            yield (pixels.astype(">u2") if reader.is_deep else pixels).tobytes()

    return method, digest_parts(parts(), Algorithm.SHA256), facts


def _digest_samples(file: BinaryIO) -> tuple[str, Digest, dict[str, Fact]]:
    soundfile = load_library("soundfile")
    file.seek(0)
    with decoding("libsndfile"), soundfile.SoundFile(_ClampedFile(file)) as sound:
        bits, rate, channels = (
            DEPTHS.get(sound.subtype, 0),
            int(sound.samplerate),
            int(sound.channels),
        )
        if bits:
            form = "float" if sound.subtype in {"FLOAT", "DOUBLE"} else "integer"
            head = f"pcm/1 {rate} {channels} {bits} {form}\n".encode()
            digest = digest_parts(chain([head], _read_samples(sound, bits, form)), Algorithm.SHA256)
            facts: dict[str, Fact] = {
                "sample_rate": rate, "channels": channels, "bit_depth": bits, "sample_form": form,
                "frames": int(sound.frames), "duration_s": sound.frames / rate, "decoder": _name_libraries("soundfile"),
            }  # fmt: skip
            return "pcm/1", digest, facts
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


class _ClampedFile:
    """A file for libsndfile, which seeks before the beginning when a length is damaged."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.read, self.tell = file.read, file.tell

    def seek(self, offset: int, whence: int = 0) -> int:
        try:
            return self._file.seek(offset, whence)
        except (OSError, ValueError):
            return self._file.seek(0)


class _StreamDigest:
    """One stream: its digest in the making, and where it ends."""

    def __init__(self, stream: Any) -> None:
        self.codec, setup = find_setup(stream)
        context = stream.codec_context if stream.type == "audio" else None
        self.rate, self.channels = (
            (int(context.sample_rate), int(context.channels)) if context else (0, 0)
        )
        # How many blocks of these are in one packet is FFmpeg's choice.
        self._is_framed = not self.codec.startswith(("pcm_", "adpcm_"))
        self.packets, self.begin_s, self.end_s = 0, 0.0, 0.0
        self.hasher: Hasher = new_hasher(Algorithm.SHA256)
        self.hasher.update(
            f"{PACKETS} {self.codec} {self.rate} {self.channels} {len(setup)}\n".encode() + setup
        )

    def add(self, packet: Any) -> None:
        data = strip_framing(self.codec, bytes(packet))
        if not data:
            return
        if self._is_framed:
            self.hasher.update(len(data).to_bytes(4, "big"))
        self.hasher.update(data)
        start = float((packet.pts or 0) * packet.time_base)
        self.begin_s = start if not self.packets else min(self.begin_s, start)
        self.end_s = max(self.end_s, start + float((packet.duration or 0) * packet.time_base))
        self.packets += 1


def _digest_packets(file: BinaryIO) -> tuple[str, Digest, dict[str, Fact]]:
    with open_media(file) as media:
        streams = {each.index: _StreamDigest(each) for each in media.streams}
        for packet in media.packets():
            streams[packet.stream_index].add(packet)
        used = [each for each in streams.values() if each.packets]
        if not used:
            raise Damaged("there is not one packet in it")
        facts: dict[str, Fact] = {
            "codec": "+".join(each.codec for each in used),
            "packets": sum(each.packets for each in used),
            "duration_s": max(each.end_s - max(each.begin_s, 0.0) for each in used),
            "decoder": _name_libraries("av"),
        }
        film = next((each.codec_context for each in media.streams if each.type == "video"), None)
        if film is not None:
            facts |= {"width": int(film.width), "height": int(film.height)}
    sound = next((each for each in used if each.rate), None)
    if sound is not None:
        facts |= {"sample_rate": sound.rate, "channels": sound.channels}
    raws = sorted(each.hasher.digest() for each in used)
    return (
        PACKETS,
        digest_parts([f"{PACKETS} {len(raws)}\n".encode(), *raws], Algorithm.SHA256),
        facts,
    )


def _name_libraries(*modules: str) -> str:
    """Name libraries with their versions, and the decoders inside them."""
    said = []
    for module in modules:
        library = load_library(module)
        said.append(
            f"{ {'PIL': 'pillow', 'av': 'PyAV'}.get(module, module) } {library.__version__}"
        )
        if module == "av":
            said += [
                "{} {}.{}.{}".format(name, *library.library_versions[name])
                for name in ("libavformat", "libavcodec")
            ]
        elif module == "soundfile":
            said.append(f"libsndfile {library.__libsndfile_version__}")
    return ", ".join(said)


def _refuse(name: str, why: str) -> PayloadRefused:
    return PayloadRefused(
        f"The payload of {name} cannot be told: {why}.",
        "Expected a whole file of the kind that its first bytes say.",
        "Export it again, or look at it with a program that opens it.",
    )
