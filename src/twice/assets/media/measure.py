"""A delivered file measured: what it is, how large, and what its pixels or samples are.

It does not say whether that is what was asked for; the gate compares. A format that soundfile does not know (M4A, Opus
in Matroska) keeps the facts of its container, and has no loudness.

Source: ITU-R BS.1770-4, annex 1 (weighting, gating) and annex 2 (true peak, table of the 48-tap filter). The filters
for rates other than 48 kHz follow from their analogue prototypes, as in libebur128. Checked against EBU Tech 3341,
cases 1 to 6 and 15 to 19.

Invariant: memory does not grow with the length of a sound, and no figure depends on the pieces in which frames come,
but for rounding below 1e-6 LU.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from twice.assets.errors import AssetMissing, PayloadRefused
from twice.assets.log.block import NotApplicable
from twice.assets.log.models import Asset, Measured, Payload
from twice.assets.media.payload import DEPTHS, digest_payload
from twice.assets.media.sniff import Damaged, load_library
from twice.foundation.digests import Algorithm, digest_parts
from twice.foundation.printable import pluralize

Samples = NDArray[np.float64]

SHORTEST_S: Final = 0.4
"""The shortest sound that has a loudness: one block of BS.1770."""

_HOP_S: Final = 0.1
_HOPS_PER_BLOCK: Final = 4
_ABSOLUTE_GATE_LUFS: Final = -70.0
_RELATIVE_GATE_LU: Final = 10.0
_OFFSET_LUFS: Final = -0.691
_SURROUND_WEIGHT: Final = 1.41
_RATE_MIN_HZ: Final = 1000
_PIECE_FRAMES: Final = 1 << 17
_UNKNOWN_FORMAT: Final = 1  # SF_ERR_UNRECOGNISED_FORMAT of sndfile.h
_ALAC_DEPTHS: Final = {"ALAC_16": 16, "ALAC_20": 20, "ALAC_24": 24, "ALAC_32": 32}


def digest_file(path: Path) -> str:
    """Return the sha256 of a file's bytes in hexadecimal.

    Raises:
        AssetMissing: E-ASSET-FILE-001, it does not exist, or cannot be read.
    """
    try:
        with path.open("rb") as file:
            return digest_parts(iter(lambda: file.read(1 << 20), b""), Algorithm.SHA256).hex
    except OSError as error:
        raise AssetMissing(
            f"{path} cannot be read: {error.strerror or error}.",
            "Expected the file of an asset.",
            "Name another one, or render it again.",
            path=str(path),
        ) from error


def measure_file(path: Path) -> Asset:
    """Measure a delivered file.

    Raises:
        AssetMissing: E-ASSET-FILE-001, it does not exist, or cannot be read.
        PayloadRefused: E-PAYLOAD-001, it is damaged, cut off, or a sample is not a number.
        ExtraMissing: E-EXTRA-001, the library that reads its format is not installed.
    """
    digest = digest_file(path)
    if not path.stat().st_size:
        raise PayloadRefused(
            f"{path} has no bytes.", "Expected the file of an asset.", "Render it again."
        )
    taken = digest_payload(path)
    measured = taken.measured
    if measured.sample_rate_hz is not None:
        sound = _measure_sound(path) or measured
        measured = sound.model_copy(update={"decoder": measured.decoder})
    return Asset(
        file=path.name,
        media_type=taken.media_type,
        size_bytes=path.stat().st_size,
        file_sha256=digest,
        payload=Payload(method=taken.method, digest=taken.digest),
        measured=measured,
    )


def _measure_sound(path: Path) -> Measured | None:
    """Measure a sound file to its end; None if soundfile does not know its format."""
    soundfile = load_library("soundfile")
    frames = 0
    try:
        with soundfile.SoundFile(str(path)) as file:
            rate, channels, form = int(file.samplerate), int(file.channels), file.subtype
            peak = TruePeakMeter(rate, channels)
            loudness = LoudnessMeter(rate, channels) if rate >= _RATE_MIN_HZ else None
            for piece in _read_finite(file):
                frames += len(piece)
                peak.add(piece)
                if loudness is not None:
                    loudness.add(piece)
    except (soundfile.LibsndfileError, Damaged) as error:
        if getattr(error, "code", 0) == _UNKNOWN_FORMAT:
            return None
        raise PayloadRefused(
            f"{path} cannot be measured: {str(error).rstrip('.')}.",
            "Expected a whole sound file.",
            "Export it again.",
        ) from error
    loud = None if loudness is None else loudness.loudness_lufs()
    reached = peak.true_peak_dbtp()
    quiet = "silent: nothing is above -70 LUFS"
    if loudness is None:
        quiet = f"a rate of {rate} Hz, too low for K-weighting"
    elif frames / rate < SHORTEST_S:
        quiet = f"shorter than {SHORTEST_S:.1f} s, one block of BS.1770"
    coded = NotApplicable(f"{form} has no bit depth: it is lossy")
    return Measured(
        duration_s=round(frames / rate, 6),
        sample_rate_hz=rate,
        bit_depth=(DEPTHS | _ALAC_DEPTHS).get(form, coded),
        channels=channels,
        loudness_lufs=NotApplicable(quiet) if loud is None else round(loud, 2),
        true_peak_dbtp=NotApplicable("silent") if reached is None else round(reached, 2),
    )


def _read_finite(file: Any) -> Iterator[Samples]:
    while len(piece := file.read(_PIECE_FRAMES, dtype="float64", always_2d=True)):
        if not np.isfinite(piece).all():
            after = pluralize(file.tell() - len(piece), "frame")
            raise Damaged(f"a sample after {after} is NaN or infinite")
        yield piece


class LoudnessMeter:
    """Take frames piece by piece, and then give their integrated loudness: K-weighted, gated.

    Channels are left, right, centre, LFE, surrounds; the sample rate is at least 1000 Hz. The two filters are
    recursive. Here their frequency response is applied to long pieces; their impulse response is far below the smallest
    float after a second.
    """

    def __init__(self, sample_rate_hz: int, channels: int) -> None:
        self._rate = sample_rate_hz
        self._weights = np.ones(channels)
        if channels >= 5:
            self._weights[3:] = _SURROUND_WEIGHT
        if channels >= 6:
            self._weights[3] = 0
        self._size = 1 << max(17, (2 * sample_rate_hz).bit_length())
        z = np.exp(-2j * np.pi * np.arange(self._size // 2 + 1) / self._size)
        self._response = np.ones(len(z), dtype=np.complex128)
        for b, a in weighting_filters(sample_rate_hz):
            self._response *= (b[0] + b[1] * z + b[2] * z * z) / (a[0] + a[1] * z + a[2] * z * z)
        self._tail = np.zeros((sample_rate_hz, channels))
        self._energies: list[float] = []
        self._pending = np.zeros(0)
        self._frames = 0

    def add(self, frames: Samples) -> None:
        """Take frames: an array of (frames, channels) in which full scale is 1."""
        step = self._size - len(self._tail)
        for start in range(0, len(frames), step):
            power = self._filter(frames[start : start + step]) ** 2 @ self._weights
            self._pending = np.concatenate([self._pending, power])
        while True:
            # A hop need not be a whole number of frames: hops end where the clock says.
            length = round((len(self._energies) + 1) * _HOP_S * self._rate) - self._frames
            if length > len(self._pending):
                return
            self._energies.append(float(self._pending[:length].mean()))
            self._pending = self._pending[length:]
            self._frames += length

    def loudness_lufs(self) -> float | None:
        """Return the integrated loudness of all frames in LUFS; None for silence or less than a block."""
        hops = np.asarray(self._energies)
        if len(hops) < _HOPS_PER_BLOCK:
            return None
        blocks = np.convolve(hops, np.ones(_HOPS_PER_BLOCK), "valid") / _HOPS_PER_BLOCK
        loud = blocks[blocks > 10 ** ((_ABSOLUTE_GATE_LUFS - _OFFSET_LUFS) / 10)]
        if not len(loud):
            return None
        gate = float(loud.mean()) * 10 ** (-_RELATIVE_GATE_LU / 10)
        return _OFFSET_LUFS + 10 * math.log10(float(loud[loud > gate].mean()))

    def _filter(self, frames: Samples) -> Samples:
        """Filter a piece, and keep its tail, which rings into the next one."""
        count, tail = len(frames), len(self._tail)
        spectrum = np.fft.rfft(frames, self._size, axis=0) * self._response[:, None]
        filtered: Samples = np.fft.irfft(spectrum, self._size, axis=0)
        filtered[:tail] += self._tail
        self._tail = filtered[count : count + tail].copy()
        return filtered[:count]


def weighting_filters(rate: int) -> list[tuple[Samples, Samples]]:
    """Return the two filters of K-weighting as (numerator, denominator), for a sample rate in Hz."""
    k, q = math.tan(math.pi * 1681.974450955533 / rate), 0.7071752369554196
    high = 10 ** (3.999843853973347 / 20)
    band = high**0.4996667741545416
    norm = 1 + k / q + k * k
    b = [high + band * k / q + k * k, 2 * (k * k - high), high - band * k / q + k * k]
    a = [norm, 2 * (k * k - 1), 1 - k / q + k * k]
    shelf = (np.array(b) / norm, np.array(a) / norm)
    k, q = math.tan(math.pi * 38.13547087602444 / rate), 0.5003270373238773
    norm = 1 + k / q + k * k
    high_pass = (
        np.array([1.0, -2.0, 1.0]),
        np.array([norm, 2 * (k * k - 1), 1 - k / q + k * k]) / norm,
    )
    return [shelf, high_pass]


_FIRST_PHASE: Final = (
    0.0017089843750, 0.0109863281250, -0.0196533203125, 0.0332031250000, -0.0594482421875,
    0.1373291015625, 0.9721679687500, -0.1022949218750, 0.0476074218750, -0.0266113281250,
    0.0148925781250, -0.0083007812500,
)  # fmt: skip
_SECOND_PHASE: Final = (
    -0.0291748046875, 0.0292968750000, -0.0517578125000, 0.0891113281250, -0.1665039062500,
    0.4650878906250, 0.7797851562500, -0.2003173828125, 0.1015625000000, -0.0582275390625,
    0.0330810546875, -0.0189208984375,
)  # fmt: skip
_PHASES: Final = (_FIRST_PHASE, _SECOND_PHASE, _SECOND_PHASE[::-1], _FIRST_PHASE[::-1])
_TAPS_BEFORE: Final = len(_FIRST_PHASE) - 1
_PEAK_RATE_MAX_HZ: Final = 96_000


class TruePeakMeter:
    """Take frames piece by piece, and then give the level that a converter reaches between the samples.

    Below 96 kHz the signal is interpolated four times, and the figure reads up to 0.7 dB too low. From 96 kHz on the
    peak of the samples themselves is taken. Both are as the recommendation says.
    """

    def __init__(self, sample_rate_hz: int, channels: int) -> None:
        self._phases = _PHASES if sample_rate_hz < _PEAK_RATE_MAX_HZ else ()
        self._last = np.zeros((_TAPS_BEFORE, channels))
        self._peak = 0.0

    def add(self, frames: Samples) -> None:
        """Take frames: an array of (frames, channels) in which full scale is 1."""
        self._peak = max(self._peak, float(np.abs(frames).max(initial=0.0)))
        joined = np.concatenate([self._last, frames])
        self._last = joined[-_TAPS_BEFORE:]
        self._interpolate(joined)

    def true_peak_dbtp(self) -> float | None:
        """Return the true peak so far in dBTP, with the ringing after the end; None for silence."""
        self._interpolate(np.concatenate([self._last, np.zeros_like(self._last)]))
        return 20 * math.log10(self._peak) if self._peak > 0 else None

    def _interpolate(self, joined: Samples) -> None:
        for channel in joined.T:
            for phase in self._phases:
                between = np.abs(np.convolve(channel, phase, "valid"))
                self._peak = max(self._peak, float(between.max(initial=0.0)))
