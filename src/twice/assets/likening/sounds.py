"""How alike two sounds are: how late, how loud and which way up one is, and what is left when both cancel.

Lag, gain and polarity are found first and told, because each alone leaves a large residual of equal material.
The residual that a tolerance judges by is that of the sounds as they are; the aligned one explains it.

Invariant: sounds of another rate or number of channels are never compared.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from twice.assets.errors import PayloadRefused
from twice.assets.likening.figures import BEST_DB
from twice.errors import ExtraMissing
from twice.foundation.printable import pluralize

_SEARCHED: Final = 1 << 21
"""Frames from the beginning in which the lag is looked for."""

Sound = NDArray[np.float64]


def compare_sounds(a: Path, b: Path) -> tuple[dict[str, float], str]:
    """Give the figures of two sound files, or the reason why they cannot be compared.

    Returns:
        what ``likeness`` gives, and ""; or no figures and the reason.

    Raises:
        PayloadRefused: E-PAYLOAD-001: one cannot be decoded. ExtraMissing: E-EXTRA-001: no soundfile.
    """
    (first, rate), (second, other) = _decoded(a), _decoded(b)
    if rate != other or first.shape[1] != second.shape[1]:
        told = [
            f"{r} Hz of {pluralize(s.shape[1], 'channel')}"
            for s, r in ((first, rate), (second, other))
        ]
        return {}, ", and ".join(told)
    if not (np.isfinite(first).all() and np.isfinite(second).all()):
        return {}, "samples that are no numbers (NaN) or infinite"
    return likeness(first, second), ""


def likeness(a: Sound, b: Sound) -> dict[str, float]:
    """Give the figures of two sounds of one rate, as frames and channels at a full scale of 1.

    Returns:
        ``length_difference`` and ``lag_samples`` (frames that b is longer and later), ``gain_db`` (that b is
        louder), ``polarity`` (1 or -1), ``null_peak_dbfs`` and ``null_rms_dbfs`` (a subtracted from b as they are),
        ``aligned_null_peak_dbfs`` (after lag, gain and polarity are undone); levels from -999 on.
    """
    longer = len(b) - len(a)
    length = max(len(a), len(b))
    whole_a, whole_b = _padded(a, length), _padded(b, length)
    residual = whole_b - whole_a
    lag = _lag(whole_a, whole_b) if residual.any() else 0
    moved = np.roll(whole_b, -lag, axis=0)
    if lag > 0:
        moved[-lag:] = 0
    elif lag < 0:
        moved[:-lag] = 0
    overlap = slice(max(0, -lag), length - max(0, lag))
    energy = float((whole_a[overlap] ** 2).sum())
    gain = float((whole_a[overlap] * moved[overlap]).sum()) / energy if energy else 1.0
    aligned = moved[overlap] / gain - whole_a[overlap] if gain else moved - whole_a
    return {
        "length_difference": float(longer),
        "lag_samples": float(lag),
        "gain_db": round(20 * float(np.log10(abs(gain))), 4) if gain else -BEST_DB,
        "polarity": -1.0 if gain < 0 else 1.0,
        "null_peak_dbfs": _level(_peak(residual)),
        "null_rms_dbfs": _level(float(np.sqrt((residual**2).mean())) if residual.size else 0.0),
        "aligned_null_peak_dbfs": _level(_peak(aligned)),
    }


def _lag(a: Sound, b: Sound) -> int:
    """Find how many frames b is late, by correlation of the loudest channel; 0 where nothing is better."""
    channel = int(np.argmax((a**2).sum(axis=0)))
    one, two = a[:_SEARCHED, channel], b[:_SEARCHED, channel]
    size = 1 << (2 * len(one) - 1).bit_length()
    product = np.conj(np.fft.rfft(one, size)) * np.fft.rfft(two, size)
    strength = np.abs(np.fft.irfft(product, size))
    at = int(np.argmax(strength))
    if strength[0] >= strength[at] * (1 - 1e-9):
        return 0
    return at if at < size // 2 else at - size


def _padded(sound: Sound, length: int) -> Sound:
    return np.pad(sound, ((0, length - len(sound)), (0, 0)))


def _peak(sound: Sound) -> float:
    return float(np.abs(sound).max()) if sound.size else 0.0


def _level(amplitude: float) -> float:
    """Give an amplitude in decibels below full scale."""
    if amplitude == 0:
        return -BEST_DB
    return round(20 * float(np.log10(amplitude)), 3)


def _decoded(path: Path) -> tuple[Sound, int]:
    try:
        import soundfile
    except ImportError as error:
        raise ExtraMissing(
            f"{path} was to be compared, and soundfile is not installed.",
            "Expected the extra that decodes sound.",
            "Install it: pip install 'twice[assets]'",
        ) from error
    try:
        frames, rate = soundfile.read(str(path), dtype="float64", always_2d=True)
    except soundfile.LibsndfileError as error:
        raise PayloadRefused(
            f"{path} cannot be decoded: libsndfile says: {error}.",
            "Expected a whole sound file.",
            "Render it again.",
        ) from error
    return frames, int(rate)
