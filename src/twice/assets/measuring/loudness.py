"""Integrated loudness of sound, as a stream of frames: K-weighting, gated, in LUFS.

The two filters are recursive; here they are applied to long pieces by their frequency response,
whose impulse response is far below the smallest float after a second.

Source: ITU-R BS.1770-4, annex 1 (weighting, gating); the filters for other rates than 48 kHz from their
analogue prototypes, as in libebur128. Checked against EBU Tech 3341, cases 1 to 6.

Invariant: the figure does not depend on the pieces that frames come in, but for rounding below 1e-6 LU.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

Samples = NDArray[np.float64]

HOP_S: Final = 0.1
HOPS_PER_BLOCK: Final = 4
SHORTEST_S: Final = HOP_S * HOPS_PER_BLOCK
"""The shortest sound that has a loudness: one block."""

ABSOLUTE_GATE_LUFS: Final = -70.0
RELATIVE_GATE_LU: Final = 10.0
_OFFSET: Final = -0.691
_SURROUND: Final = 1.41


class LoudnessMeter:
    """Takes frames piece by piece, and then says how loud they are.

    Args:
        sample_rate_hz: frames per second; at least 1000.
        channels: how many; their order is left, right, centre, LFE, surrounds.
    """

    def __init__(self, sample_rate_hz: int, channels: int) -> None:
        self._rate = sample_rate_hz
        self._weights = _channel_weights(channels)
        self._size = 1 << max(17, (2 * sample_rate_hz).bit_length())
        self._response = _response(sample_rate_hz, self._size)
        self._waiting = np.zeros((0, channels))
        self._tail = np.zeros((sample_rate_hz, channels))
        self._energies: list[float] = []
        self._pending = np.zeros(0)
        self._frames = 0

    def add(self, frames: Samples) -> None:
        """Take frames: an array of (frames, channels) in which full scale is 1."""
        self._waiting = np.concatenate([self._waiting, frames])
        piece = self._size - len(self._tail)
        while len(self._waiting) >= piece:
            self._take(self._weighted(self._waiting[:piece]))
            self._waiting = self._waiting[piece:]

    def loudness_lufs(self) -> float | None:
        """Return the integrated loudness of all frames in LUFS; None for silence or under a block.

        Call it once, after the last frame.
        """
        self._take(self._weighted(self._waiting))
        hops = np.asarray(self._energies)
        if len(hops) < HOPS_PER_BLOCK:
            return None
        blocks = np.convolve(hops, np.ones(HOPS_PER_BLOCK), "valid") / HOPS_PER_BLOCK
        loud = blocks[blocks > _energy(ABSOLUTE_GATE_LUFS)]
        if not len(loud):
            return None
        gate = float(loud.mean()) * 10 ** (-RELATIVE_GATE_LU / 10)
        return _OFFSET + 10 * math.log10(float(loud[loud > gate].mean()))

    def _weighted(self, frames: Samples) -> Samples:
        """Filter a piece, and keep what rings on for the next one."""
        count, tail = len(frames), len(self._tail)
        spectrum = np.fft.rfft(frames, self._size, axis=0) * self._response[:, None]
        filtered: Samples = np.fft.irfft(spectrum, self._size, axis=0)
        filtered[:tail] += self._tail
        self._tail = filtered[count : count + tail].copy()
        return filtered[:count]

    def _take(self, weighted: Samples) -> None:
        """Sum the squares of whole hops; the rest waits."""
        power = (weighted**2) @ self._weights
        self._pending = np.concatenate([self._pending, power])
        taken = 0
        while True:
            end = round((len(self._energies) + 1) * HOP_S * self._rate)
            length = end - self._frames
            if taken + length > len(self._pending):
                break
            self._energies.append(float(self._pending[taken : taken + length].mean()))
            taken += length
            self._frames = end
        self._pending = self._pending[taken:]


def _energy(lufs: float) -> float:
    return float(10 ** ((lufs - _OFFSET) / 10))


def _channel_weights(channels: int) -> Samples:
    weights = np.ones(channels)
    if channels == 5:
        weights[3:] = _SURROUND
    elif channels >= 6:
        weights[3] = 0
        weights[4:] = _SURROUND
    return weights


def coefficients(rate: int) -> list[tuple[Samples, Samples]]:
    """Return K-weighting's two filters as (numerator, denominator), for a sample rate in Hz."""
    shelf_hz, gain_db, shelf_q = 1681.974450955533, 3.999843853973347, 0.7071752369554196
    k = math.tan(math.pi * shelf_hz / rate)
    high = 10 ** (gain_db / 20)
    band = high**0.4996667741545416
    norm = 1 + k / shelf_q + k * k
    b = [high + band * k / shelf_q + k * k, 2 * (k * k - high), high - band * k / shelf_q + k * k]
    a = [norm, 2 * (k * k - 1), 1 - k / shelf_q + k * k]
    shelf = (np.array(b) / norm, np.array(a) / norm)
    pass_hz, pass_q = 38.13547087602444, 0.5003270373238773
    k = math.tan(math.pi * pass_hz / rate)
    norm = 1 + k / pass_q + k * k
    a = [1, 2 * (k * k - 1) / norm, (1 - k / pass_q + k * k) / norm]
    return [shelf, (np.array([1.0, -2.0, 1.0]), np.array(a))]


def _response(rate: int, size: int) -> NDArray[np.complex128]:
    """Return the frequency response of both filters at the frequencies of a transform."""
    z = np.exp(-2j * np.pi * np.arange(size // 2 + 1) / size)
    response = np.ones(len(z), dtype=np.complex128)
    for b, a in coefficients(rate):
        response *= (b[0] + b[1] * z + b[2] * z * z) / (a[0] + a[1] * z + a[2] * z * z)
    return response
