"""Samples as one digest: rate, channels, depth, and every frame as little-endian integers or floats.

FLAC is decoded by soundfile, since what it holds is samples: the same as in the WAV file that it was made of.
Compressed sound inside a WAV file is taken as packets, as it lies.

Invariant: WAV, AIFF and FLAC of the same samples have the same digest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from twice.assets.containers.parts import Damaged
from twice.assets.containers.pcm import Coded, Samples, aiff_samples, wav_samples
from twice.assets.containers.sniffing import Format
from twice.assets.containers.source import Source
from twice.errors import ExtraMissing
from twice.foundation.digests import Algorithm, digest_parts
from twice.foundation.printable import pluralize

if TYPE_CHECKING:
    from twice.assets.payload import Fact

METHOD = "pcm/1"
_FRAMES = 1 << 16  # that are in memory at once


def pcm(source: Source, kind: Format) -> tuple[str, str, dict[str, Fact]]:
    """Return method, digest and facts of a WAV, AIFF or FLAC file.

    Raises:
        Damaged: there are no samples, or the decoder failed.
        ExtraMissing: E-EXTRA-001, FLAC without soundfile.
    """
    if kind is Format.FLAC:
        return _flac(source)
    samples = wav_samples(source) if kind is Format.WAV else aiff_samples(source)
    if isinstance(samples, Coded):
        head = f"packets/1 {samples.codec} {samples.sample_rate} {samples.channels}\n".encode()
        digest = digest_parts(_after(head, samples.source.pieces()), Algorithm.SHA256)
        facts: dict[str, Fact] = {
            "codec": samples.codec,
            "sample_rate": samples.sample_rate,
            "channels": samples.channels,
        }
        return "packets/1", str(digest), facts
    facts = _facts(samples.sample_rate, samples.channels, samples.bit_depth, samples.is_float)
    frames = samples.source.size // (samples.width * samples.channels)
    digest = digest_parts(
        _after(_head(facts), map(_plain(samples), _whole_pieces(samples))), Algorithm.SHA256
    )
    return METHOD, str(digest), _timed(facts, frames)


def _facts(rate: int, channels: int, bits: int, is_float: bool) -> dict[str, Fact]:
    form = "float" if is_float else "integer"
    return {"sample_rate": rate, "channels": channels, "bit_depth": bits, "sample_form": form}


def _timed(facts: dict[str, Fact], frames: int) -> dict[str, Fact]:
    return {**facts, "frames": frames, "duration_s": frames / int(facts["sample_rate"])}


def _head(facts: dict[str, Fact]) -> bytes:
    return f"{METHOD} {' '.join(map(str, facts.values()))}\n".encode()


def _after(head: bytes, pieces: Iterator[bytes]) -> Iterator[bytes]:
    yield head
    yield from pieces


def _whole_pieces(samples: Samples) -> Iterator[bytes]:
    """Return the frames in pieces that end between samples."""
    return samples.source.pieces(_FRAMES * samples.width)


def _plain(samples: Samples) -> Callable[[bytes], bytes]:
    """Return the function that converts the file's bytes to little-endian, signed ones."""
    width = samples.width
    if samples.is_unsigned:
        return lambda piece: (np.frombuffer(piece, np.uint8) ^ 0x80).tobytes()
    if samples.is_big and width > 1:
        return lambda piece: np.frombuffer(piece, np.uint8).reshape(-1, width)[:, ::-1].tobytes()
    return lambda piece: piece


def _flac(source: Source) -> tuple[str, str, dict[str, Fact]]:
    try:
        import soundfile
    except ImportError as error:
        raise ExtraMissing(
            "The samples of a FLAC file were asked for, and soundfile is not installed.",
            "Expected the extra that decodes FLAC.",
            "Install it: pip install 'twice[assets]'",
        ) from error
    try:
        with soundfile.SoundFile(source.as_file()) as file:
            bits = {"PCM_S8": 8, "PCM_16": 16, "PCM_24": 24}.get(file.subtype, 0)
            if not bits:
                raise Damaged(f"its samples are {file.subtype}")
            facts = _facts(int(file.samplerate), int(file.channels), bits, is_float=False)
            frames, pieces = int(file.frames), _decoded(file, bits)
            digest = digest_parts(_after(_head(facts), pieces), Algorithm.SHA256)
    except soundfile.LibsndfileError as error:
        raise Damaged(f"libsndfile says: {error}") from error
    return METHOD, str(digest), _timed(facts, frames)


def _decoded(file: Any, bits: int) -> Iterator[bytes]:
    width = bits // 8
    read = file.read
    total = 0
    while True:
        block = np.ascontiguousarray(read(_FRAMES, dtype="int32", always_2d=True), dtype="<i4")
        total += len(block)
        if not len(block):
            break
        yield block.view(np.uint8).reshape(-1, 4)[:, 4 - width :].tobytes()
    if total != file.frames:
        raise Damaged(f"{total:,} of {pluralize(file.frames, 'frame is', 'frames are')} there")
