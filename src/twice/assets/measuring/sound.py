"""A sound file decoded and measured: rate, depth, length, loudness, true peak.

soundfile decodes. What it does not know (M4A, Opus in Matroska) keeps the facts of its container, and no loudness.

Invariant: memory does not grow with the length of the file.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import numpy as np

from twice.assets.errors import PayloadRefused
from twice.assets.log.block import NotApplicable
from twice.assets.log.models import Measured
from twice.assets.measuring.loudness import SHORTEST_S, LoudnessMeter
from twice.assets.measuring.truepeak import TruePeakMeter
from twice.errors import ExtraMissing
from twice.foundation.printable import pluralize

_DEPTHS: Final = {
    "PCM_S8": 8, "PCM_U8": 8, "PCM_16": 16, "PCM_24": 24, "PCM_32": 32, "FLOAT": 32, "DOUBLE": 64,
    "ALAC_16": 16, "ALAC_20": 20, "ALAC_24": 24, "ALAC_32": 32,
}  # fmt: skip
_PIECE: Final = 1 << 17
_RATE_LEAST_HZ: Final = 1000
_DECIMALS: Final = 2


def measure_sound(path: Path) -> Measured | None:
    """Measure a sound file; None where soundfile does not know its format.

    Raises:
        PayloadRefused: E-PAYLOAD-001: it is cut off or damaged.
        ExtraMissing: E-EXTRA-001: soundfile is not installed.
    """
    try:
        import soundfile
    except ImportError as error:
        raise ExtraMissing(
            f"The loudness of {path} was asked for, and soundfile is not installed.",
            "Expected the extra that decodes sound.",
            "Install it: pip install 'twice[assets]'",
        ) from error
    try:
        with soundfile.SoundFile(str(path)) as file:
            return _measured(file, path)
    except soundfile.LibsndfileError as error:
        if error.code == soundfile._snd.SF_ERR_UNRECOGNISED_FORMAT:
            return None
        raise PayloadRefused(
            f"{path} cannot be measured: libsndfile says: {error}.",
            "Expected a whole sound file.",
            "Export it again.",
        ) from error


def _measured(file: Any, path: Path) -> Measured:
    rate, channels = int(file.samplerate), int(file.channels)
    peak = TruePeakMeter(rate, channels)
    loudness = LoudnessMeter(rate, channels) if rate >= _RATE_LEAST_HZ else None
    frames = 0
    while len(piece := file.read(_PIECE, dtype="float64", always_2d=True)):
        if not np.isfinite(piece).all():
            raise PayloadRefused(
                f"{path} cannot be measured: a sample after {pluralize(frames, 'frame')} is NaN or infinite.",
                "Expected samples that are numbers.",
                "Export it again.",
            )
        frames += len(piece)
        peak.add(piece)
        if loudness is not None:
            loudness.add(piece)
    loud = None if loudness is None else loudness.loudness_lufs()
    reached = peak.true_peak_dbtp()
    coded = NotApplicable(f"{file.subtype} has no bit depth: it is lossy")
    return Measured(
        duration_s=round(frames / rate, 6),
        sample_rate_hz=rate,
        bit_depth=_DEPTHS.get(file.subtype, coded),
        channels=channels,
        loudness_lufs=_no_loudness(frames / rate) if loud is None else round(loud, _DECIMALS),
        true_peak_dbtp=NotApplicable("silent") if reached is None else round(reached, _DECIMALS),
    )


def _no_loudness(duration_s: float) -> NotApplicable:
    if duration_s < SHORTEST_S:
        return NotApplicable(f"shorter than {SHORTEST_S:.1f} s, one block of BS.1770")
    return NotApplicable("silent: nothing is above -70 LUFS")
