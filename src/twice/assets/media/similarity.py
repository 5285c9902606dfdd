"""How alike two renderings are: figures of pictures and of sounds, and the tolerances that judge by them.

A tolerance says when a second rendering counts as the same. Whether it sounds or looks the same to a person it does not
say. Names for what is only similar (perceptual hashes, loudness alone) are left out: similar is not reproduced. Colour
profiles and orientation are not applied.

Invariant: every figure is finite, two equal files reach the best value of each, and files of another size, mode, rate,
number of channels or frames are never compared.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from twice.assets.errors import PayloadRefused
from twice.assets.media.images import ImageReader
from twice.assets.media.sniff import Damaged, decoding, load_library
from twice.foundation.printable import pluralize

Pixels = NDArray[np.float64]
Sound = NDArray[np.floating[Any]]

BEST_DB: Final = 999.0
"""A peak signal-to-noise ratio without any noise; its negative is a residual of nothing."""

_LARGER_IS_BETTER: Final = frozenset({"psnr_db", "worst_tile_psnr_db", "ssim"})
_BEST_AT_ZERO: Final = frozenset({"lag_samples", "gain_db", "length_difference"})

PROFILES: Final[Mapping[str, Mapping[str, float]]] = {
    "image-numeric": {"max_error_255": 2.0, "psnr_db": 70.0},
    "image-stochastic": {"psnr_db": 45.0, "worst_tile_psnr_db": 38.0, "ssim": 0.995},
    "audio-numeric": {"length_difference": 0.0, "lag_samples": 0.0, "null_peak_dbfs": -110.0},
    "audio-16bit": {"length_difference": 0.0, "lag_samples": 0.0, "null_peak_dbfs": -84.0},
}
"""Limits by the name of a tolerance."""

_LOOSEST: Final = {"max_error_255": 32.0, "psnr_db": 25.0, "null_peak_dbfs": -30.0}
"""Beyond these, a picture with another patch in it and a sound with another part in it still pass."""

_TILE_PX: Final = 32
_BAND_ROWS: Final = 16 * _TILE_PX  # of a picture that are compared at once
_WINDOW_PX: Final = 11
_SIGMA_PX: Final = 1.5
_LUMA: Final = (0.299, 0.587, 0.114)  # BT.601
_PIECE_FRAMES: Final = 1 << 18  # of a sound that are compared at once
_LAG_FRAMES: Final = 1 << 21  # from the beginning, in which a lag is looked for


def _rank_loss(name: str, value: float) -> float:
    """Order the values of a figure: the larger, the worse."""
    if name in _LARGER_IS_BETTER:
        return -value
    return abs(value) if name in _BEST_AT_ZERO else value


def exceed_limits(figures: Mapping[str, float], limits: Mapping[str, float]) -> list[str]:
    """Name the figures that are beyond their limits, or were not measured; NaN is beyond each."""
    nothing = float("nan")
    return [
        name
        for name, limit in limits.items()
        if not _rank_loss(name, figures.get(name, nothing)) <= _rank_loss(name, limit)
    ]


def merge_worst(many: Iterable[Mapping[str, float]]) -> dict[str, float]:
    """Return the worst value of each figure over several comparisons."""
    found: dict[str, float] = {}
    for each in many:
        for name, value in each.items():
            found[name] = max(found.get(name, value), value, key=partial(_rank_loss, name))
    return found


def explain_loose_limits(limits: Mapping[str, float], *, sound: bool) -> str:
    """Say why the limits of a tolerance let nearly everything pass; "" if at least one keeps something out."""
    deciding = ("null_peak_dbfs",) if sound else ("max_error_255", "psnr_db")
    known = [name for name in deciding if name in limits]
    if not known:
        return f"it has no limit for {' or '.join(deciding)}"
    if all(_rank_loss(name, limits[name]) > _rank_loss(name, _LOOSEST[name]) for name in known):
        name = known[0]
        return f"{name} {limits[name]:g} lets nearly everything pass; at worst {_LOOSEST[name]:g}"
    return ""


def compare_images(a: Path, b: Path) -> tuple[dict[str, float], str]:
    """Return the figures of two pictures, of which ``a`` was sealed, or the reason why they cannot be compared.

    Returns:
        ``max_error_255`` (full scale is 255), ``psnr_db``, ``worst_tile_psnr_db`` (decibels, at most 999), ``ssim``
        (-1 to 1); and "", or no figures and the reason. Alpha counts like a colour.

    Raises:
        PayloadRefused: E-PAYLOAD-001, one is damaged. ExtraMissing: E-EXTRA-001, no Pillow.
    """
    figures: list[dict[str, float]] = []
    try:
        with a.open("rb") as file_a, b.open("rb") as file_b:
            both = ImageReader(file_a), ImageReader(file_b)
            if len({(each.mode, each.count, each.is_deep) for each in both}) > 1:
                forms = (f"{each.mode} of {pluralize(each.count, 'frame')}" for each in both)
                return {}, " and ".join(forms)
            frames = (each.frames() for each in both)
            for (left, left_ms), (right, right_ms) in zip(*frames, strict=True):
                if left_ms != right_ms:
                    return {}, "frames that are shown longer or shorter"
                if left.shape != right.shape:
                    sizes = (f"{each.shape[1]}x{each.shape[0]} pixels" for each in (left, right))
                    return {}, " and ".join(sizes)
                if not (np.isfinite(left).all() and np.isfinite(right).all()):
                    return {}, "pixels that are no numbers (NaN) or infinite"
                figures.append(compare_pixels(left, right))
    except (OSError, Damaged) as error:
        raise _refuse(a, b, str(error)) from error
    return merge_worst(figures), ""


def compare_pixels(a: NDArray[Any], b: NDArray[Any]) -> dict[str, float]:
    """Return the figures of two arrays of (rows, columns, channels) of one type.

    Full scale is 255 or 65535 for integers of 8 or 16 bits, else the largest magnitude in ``a`` (in ``b``, if that is zero).
    """
    scale = {"u1": 1.0, "u2": 255 / 65535}.get(a.dtype.str[1:])
    if scale is None:
        most = (float(np.abs(each.astype(np.float64)).max(initial=0.0)) for each in (a, b))
        scale = 255 / next(filter(None, most), 1.0)
    error, squared, tile, structure, windows = 0.0, 0.0, 0.0, 0.0, 0
    width = min(_WINDOW_PX, *a.shape[:2])
    # In bands: as floats, two large pictures would take sixteen times their memory.
    for top in range(0, a.shape[0], _BAND_ROWS):
        one, two = (each[top : top + _BAND_ROWS + width - 1] * np.float64(scale) for each in (a, b))
        difference = np.abs(one[:_BAND_ROWS] - two[:_BAND_ROWS])
        error = max(error, float(difference.max()))
        power = (difference**2).mean(axis=2)
        squared += float(power.sum())
        for y in range(0, power.shape[0], _TILE_PX):
            for x in range(0, power.shape[1], _TILE_PX):
                tile = max(tile, float(power[y : y + _TILE_PX, x : x + _TILE_PX].mean()))
        if len(one) >= width:
            found = measure_ssim(_to_luma(one), _to_luma(two), width)
            structure += float(found.sum())
            windows += found.size
    return {
        "max_error_255": round(error, 4),
        "psnr_db": _to_psnr(squared / (a.shape[0] * a.shape[1])),
        "worst_tile_psnr_db": _to_psnr(tile),
        "ssim": round(structure / windows, 6),
    }


def measure_ssim(a: Pixels, b: Pixels, width: int = _WINDOW_PX) -> Pixels:
    """Return the structural similarity of two planes of 0 to 255 in each window of ``width`` pixels.

    Source: Wang et al., Image quality assessment (2004): Gaussian of 11 pixels, sigma 1.5.
    """
    offsets = np.arange(width) - (width - 1) / 2
    kernel = np.exp(-(offsets**2) / (2 * _SIGMA_PX**2))
    kernel /= kernel.sum()

    def smooth(plane: Pixels) -> Pixels:
        for axis in (0, 1):
            windows = np.lib.stride_tricks.sliding_window_view(plane, width, axis=axis)
            plane = np.asarray(windows @ kernel)
        return plane

    c1, c2 = (0.01 * 255) ** 2, (0.03 * 255) ** 2
    mean_a, mean_b = smooth(a), smooth(b)
    var_a = smooth(a * a) - mean_a**2
    var_b = smooth(b * b) - mean_b**2
    both = smooth(a * b) - mean_a * mean_b
    above = (2 * mean_a * mean_b + c1) * (2 * both + c2)
    below = (mean_a**2 + mean_b**2 + c1) * (var_a + var_b + c2)
    return np.asarray(above / below)


def _to_luma(pixels: Pixels) -> Pixels:
    is_grey = pixels.shape[2] < 3
    return pixels[:, :, 0] if is_grey else np.asarray(pixels[:, :, :3] @ np.array(_LUMA))


def _to_psnr(mean_squared: float) -> float:
    return round(float(10 * np.log10(255.0**2 / mean_squared)), 4) if mean_squared else BEST_DB


def compare_sounds(a: Path, b: Path) -> tuple[dict[str, float], str]:
    """Return the figures of ``compare_samples`` for two sound files, or the reason why they cannot be compared.

    Both are in memory while they are compared, as floats that hold their samples exactly.

    Raises:
        PayloadRefused: E-PAYLOAD-001, one cannot be decoded. ExtraMissing: E-EXTRA-001, no soundfile.
    """
    soundfile = load_library("soundfile")
    sounds: list[Sound] = []
    forms: list[str] = []
    try:
        for path in (a, b):
            with decoding("libsndfile"), soundfile.SoundFile(str(path)) as file:
                precise = file.subtype in {"PCM_32", "DOUBLE"}
                sounds.append(file.read(dtype="float64" if precise else "float32", always_2d=True))
                forms.append(f"{file.samplerate} Hz of {pluralize(file.channels, 'channel')}")
    except Damaged as damage:
        raise _refuse(a, b, damage.why) from damage
    if forms[0] != forms[1]:
        return {}, " and ".join(forms)
    if not all(np.isfinite(each).all() for each in sounds):
        return {}, "samples that are no numbers (NaN) or infinite"
    return compare_samples(*sounds), ""


def compare_samples(a: Sound, b: Sound) -> dict[str, float]:
    """Return the figures of two sounds of one rate, as (frames, channels) at a full scale of 1.

    Lag, gain and polarity are found first and reported, because each alone leaves a large residual of equal material.
    The residual that a tolerance judges by is that of the sounds as they are; the aligned one explains it.

    Returns:
        ``length_difference`` and ``lag_samples`` (frames that b is longer and later), ``gain_db`` (that b is louder),
        ``polarity`` (1 or -1), ``null_peak_dbfs`` and ``null_rms_dbfs`` (a subtracted from b as they are),
        ``aligned_null_peak_dbfs`` (after lag, gain and polarity are undone); levels from -999 on.
    """
    length = max(len(a), len(b))
    null_peak, null_power = 0.0, 0.0
    for one, two in _pair_pieces(a, b, 0, length):
        null_peak = max(null_peak, float(np.abs(two - one).max(initial=0.0)))
        null_power += float(((two - one) ** 2).sum())
    lag = _find_lag(a, b, length) if null_peak else 0
    energy, product = 0.0, 0.0
    for one, two in _pair_pieces(a, b, lag, length):
        energy += float((one**2).sum())
        product += float((one * two).sum())
    gain = product / energy if energy else 1.0
    aligned_peak = 0.0
    for one, two in _pair_pieces(a, b, lag, length):
        aligned_peak = max(aligned_peak, float(np.abs(two / (gain or 1.0) - one).max(initial=0.0)))
    return {
        "length_difference": float(len(b) - len(a)),
        "lag_samples": float(lag),
        "gain_db": round(20 * float(np.log10(abs(gain))), 4) if gain else -BEST_DB,
        "polarity": -1.0 if gain < 0 else 1.0,
        "null_peak_dbfs": _to_dbfs(null_peak),
        "null_rms_dbfs": _to_dbfs(float(np.sqrt(null_power / (length * a.shape[1] or 1)))),
        "aligned_null_peak_dbfs": _to_dbfs(aligned_peak),
    }


def _pair_pieces(a: Sound, b: Sound, lag: int, length: int) -> Iterator[tuple[Sound, Sound]]:
    """Yield pieces of ``a`` and of ``b`` moved by a lag, where both are within a length; silence follows their ends."""
    for start in range(max(0, -lag), length - max(0, lag), _PIECE_FRAMES):
        count = min(_PIECE_FRAMES, length - max(0, lag) - start)
        yield _cut_piece(a, start, count), _cut_piece(b, start + lag, count)


def _cut_piece(sound: Sound, start: int, count: int) -> Sound:
    piece = sound[start : start + count].astype(np.float64)
    return np.pad(piece, ((0, count - len(piece)), (0, 0)))


def _find_lag(a: Sound, b: Sound, length: int) -> int:
    """Find how many frames b is late, by correlation of the loudest channel; 0 if nothing is better."""
    channel = int(np.argmax(np.einsum("ij,ij->j", a, a, dtype=np.float64)))
    one, two = (_cut_piece(each, 0, min(_LAG_FRAMES, length))[:, channel] for each in (a, b))
    size = 1 << (2 * len(one) - 1).bit_length()
    product = np.conj(np.fft.rfft(one, size)) * np.fft.rfft(two, size)
    strength = np.abs(np.fft.irfft(product, size))
    at = int(np.argmax(strength))
    if strength[0] >= strength[at] * (1 - 1e-9):
        return 0
    return at if at < size // 2 else at - size


def _to_dbfs(amplitude: float) -> float:
    return round(20 * float(np.log10(amplitude)), 3) if amplitude else -BEST_DB


def _refuse(a: Path, b: Path, why: str) -> PayloadRefused:
    return PayloadRefused(
        f"{a} and {b} cannot be compared: {why}.", "Expected whole files.", "Render them again."
    )
