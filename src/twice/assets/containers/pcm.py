"""Samples as they lie in WAV and AIFF files: where, and in which form.

It decodes no compressed audio.

Source: Microsoft, WAVEFORMATEX and WAVEFORMATEXTENSIBLE; Apple, AIFF-C (1991).

Invariant: the bytes given are whole frames.
"""

from __future__ import annotations

from dataclasses import dataclass

from twice.assets.containers.iff import chunks
from twice.assets.containers.source import Source
from twice.assets.media.sniff import Damaged
from twice.foundation.printable import pluralize

_EXTENSIBLE = 0xFFFE
_PCM, _FLOAT = 1, 3
_AIFF_FLOATS = {b"fl32": 32, b"FL32": 32, b"fl64": 64, b"FL64": 64}


@dataclass(frozen=True, slots=True)
class Samples:
    """Uncompressed samples.

    Args:
        source: the frames, interleaved.
        sample_rate: in hertz, as written.
        channels: how many samples there are to a frame.
        bit_depth: valid bits of a sample, 1 to 64.
        width: bytes of a sample, 1 to 8.
        is_float: IEEE 754 rather than integers.
        is_big: big-endian.
        is_unsigned: as 8 bits are in WAV.
    """

    source: Source
    sample_rate: int
    channels: int
    bit_depth: int
    width: int
    is_float: bool
    is_big: bool
    is_unsigned: bool


@dataclass(frozen=True, slots=True)
class Coded:
    """Samples in a compressed form inside a WAV or AIFF file."""

    source: Source
    codec: str
    sample_rate: int
    channels: int


def wav_samples(source: Source) -> Samples | Coded:
    """Return the samples of a WAV file.

    Raises:
        Damaged: there is no format, or there are no samples.
    """
    form: Source | None = None
    data: Source | None = None
    for chunk in chunks(source):
        if chunk.name == "fmt " and form is None:
            form = chunk.source
        elif chunk.name == "data" and data is None:
            data = chunk.source
    if form is None or form.size < 14 or data is None:
        raise Damaged("a WAV file has a fmt and a data chunk")
    big = source.read(0, 4) == b"RIFX"

    def number(at: int, width: int) -> int:
        return form.number(at, width, big=big)

    tag, channels, rate, align = number(0, 2), number(2, 2), number(4, 4), number(12, 2)
    bits = number(14, 2)
    if tag == _EXTENSIBLE and form.size >= 40:
        tag, bits = number(24, 2), number(18, 2) or bits
    width = align // channels if channels else 0
    if tag not in {_PCM, _FLOAT} or (tag == _FLOAT and width not in {4, 8}):
        return Coded(data, f"wav-0x{tag:04x}", rate, channels)
    if not 1 <= width <= 8 or align % channels or not 1 <= bits <= 8 * width or not rate:
        raise Damaged(
            f"the format says {pluralize(channels, 'channel')}, {pluralize(bits, 'bit')}, {rate} Hz"
        )
    frames = data.sub(0, data.size - data.size % align)
    return Samples(frames, rate, channels, bits, width, tag == _FLOAT, big, width == 1)


def aiff_samples(source: Source) -> Samples | Coded:
    """Return the samples of an AIFF or AIFF-C file.

    Raises:
        Damaged: there is no format, or there are no samples.
    """
    common: Source | None = None
    data: Source | None = None
    for chunk in chunks(source):
        if chunk.name == "COMM" and common is None:
            common = chunk.source
        elif chunk.name == "SSND" and data is None:
            data = chunk.source.sub(8 + chunk.source.number(0, 4, big=True))
    if common is None or common.size < 18 or data is None:
        raise Damaged("an AIFF file has a COMM and an SSND chunk")
    channels, bits = common.number(0, 2, big=True), common.number(6, 2, big=True)
    rate = _extended(common.read(8, 10))
    kind = common.read(18, 4) if source.read(8, 4) == b"AIFC" else b"NONE"
    if kind not in {b"NONE", b"twos", b"sowt", *_AIFF_FLOATS}:
        return Coded(data, f"aifc-{kind.decode('latin-1')}", rate, channels)
    bits = _AIFF_FLOATS.get(kind, bits)
    width = (bits + 7) // 8
    if not channels or not 1 <= width <= 8 or not rate:
        raise Damaged(
            f"the format says {pluralize(channels, 'channel')}, {pluralize(bits, 'bit')}, {rate} Hz"
        )
    frames = data.sub(0, data.size - data.size % (width * channels))
    return Samples(
        frames, rate, channels, bits, width, kind in _AIFF_FLOATS, kind != b"sowt", False
    )


def _extended(data: bytes) -> int:
    """Read a sampling rate in the 80-bit format of the 68881."""
    exponent = int.from_bytes(data[:2], "big") & 0x7FFF
    shift = 16383 + 63 - exponent
    return int.from_bytes(data[2:10], "big") >> shift if 0 <= shift < 64 else 0
