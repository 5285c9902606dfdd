"""How alike two pictures are: largest error, noise ratio over all and in the worst tile, structure.

Alpha counts like a colour. Colour profiles and orientation are not applied.

Invariant: pictures of another size, mode or number of frames are never compared.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from twice.assets.containers.parts import Damaged
from twice.assets.containers.source import whole_file
from twice.assets.errors import PayloadRefused
from twice.assets.likening.figures import BEST_DB
from twice.assets.payloads.pixels import guarded, opened
from twice.foundation.printable import pluralize

TILE_PX: Final = 32
_WINDOW_PX: Final = 11
_SIGMA_PX: Final = 1.5
_LUMA: Final = (0.299, 0.587, 0.114)

Pixels = NDArray[np.float64]


def compare_pictures(a: Path, b: Path) -> tuple[dict[str, float], str]:
    """Give the figures of two pictures, or the reason why they cannot be compared.

    Returns:
        ``max_error_255`` (0 to 255), ``psnr_db``, ``worst_tile_psnr_db`` (decibels, at most 999), ``ssim``
        (-1 to 1); and "", or no figures and the reason.

    Raises:
        PayloadRefused: E-PAYLOAD-001: one is damaged. ExtraMissing: E-EXTRA-001: no pillow.
    """
    (first, mode, lasts), (second, other, others_last) = _frames(a), _frames(b)
    if mode != other or len(first) != len(second):
        return {}, f"{mode} of {pluralize(len(first), 'frame')}, and {other} of {len(second)}"
    if lasts != others_last:
        return {}, "frames that stand for another time: they are shown longer or shorter"
    if not all(np.isfinite(each).all() for each in (*first, *second)):
        return {}, "pixels that are no numbers (NaN) or infinite"
    figures: list[dict[str, float]] = []
    for one, two in zip(first, second, strict=True):
        if one.shape != two.shape:
            return {}, f"{one.shape[1]}x{one.shape[0]}, and {two.shape[1]}x{two.shape[0]} pixels"
        figures.append(likeness(one, two))
    return {
        name: (max if name == "max_error_255" else min)(each[name] for each in figures)
        for name in figures[0]
    }, ""


def likeness(a: Pixels, b: Pixels) -> dict[str, float]:
    """Give the figures of two arrays of rows, columns and channels, from 0 to 255."""
    squared = (a - b) ** 2
    return {
        "max_error_255": round(float(np.abs(a - b).max()), 4),
        "psnr_db": _psnr(float(squared.mean())),
        "worst_tile_psnr_db": _psnr(_worst_tile(squared.mean(axis=2))),
        "ssim": round(ssim(luma(a), luma(b)), 6),
    }


def luma(pixels: Pixels) -> Pixels:
    """Give the brightness of pixels as BT.601 weighs it; of one or two channels, the first."""
    if pixels.shape[2] < 3:
        return pixels[:, :, 0]
    return np.asarray(pixels[:, :, :3] @ np.array(_LUMA))


def ssim(a: Pixels, b: Pixels) -> float:
    """Give the mean structural similarity of two planes (Wang et al. 2004): Gaussian, 11 pixels, sigma 1.5."""
    width = min(_WINDOW_PX, *a.shape)
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
    return float((above / below).mean())


def _worst_tile(squared: Pixels) -> float:
    rows = range(0, squared.shape[0], TILE_PX)
    columns = range(0, squared.shape[1], TILE_PX)
    return max(
        float(squared[y : y + TILE_PX, x : x + TILE_PX].mean()) for y in rows for x in columns
    )


def _psnr(mean_squared: float) -> float:
    if mean_squared == 0:
        return BEST_DB
    return round(float(10 * np.log10(255.0**2 / mean_squared)), 4)


def _frames(path: Path) -> tuple[list[Pixels], str, list[object]]:
    """Decode every frame to numbers from 0 to 255; the mode, and how long each stands."""
    try:
        picture = opened(whole_file(path))
        frames, lasts = [], []
        with guarded():
            for at in range(getattr(picture, "n_frames", 1)):
                frames.append(_numbers(picture, at))
                lasts.append(picture.info.get("duration"))
        return frames, str(picture.mode), lasts
    except (OSError, Damaged) as error:
        raise PayloadRefused(
            f"{path} cannot be decoded: {error}.",
            "Expected a whole picture.",
            "Render it again.",
        ) from error


def _numbers(picture: Any, at: int) -> Pixels:
    picture.seek(at)
    deep = picture.mode.startswith("I") or picture.mode == "F"
    frame = picture if deep else picture.convert("RGBA")
    numbers = np.asarray(frame, dtype=np.float64)
    scale = 255 / 65535 if deep and picture.mode != "F" else 1.0
    return np.atleast_3d(numbers * scale)
