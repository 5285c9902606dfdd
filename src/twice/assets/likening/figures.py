"""The figures of a comparison, and the tolerances that are known by name.

A tolerance says when a second rendering counts as the same. Whether it sounds or looks the same to a person
it does not say. Names for what is only similar (perceptual hashes, loudness alone) are left out: similar is
not reproduced.

Invariant: every figure is finite, so that a log can hold it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final

BEST_DB: Final = 999.0
"""A peak signal-to-noise ratio without any noise; its negative is a residual of nothing."""

AT_LEAST: Final = frozenset({"psnr_db", "worst_tile_psnr_db", "ssim"})
"""Figures that are better when they are larger; of all others, larger magnitudes or levels are worse."""

_SIGNED: Final = frozenset({"lag_samples", "gain_db", "length_difference"})
"""Figures that are best at 0, on either side."""

PROFILES: Final[Mapping[str, Mapping[str, float]]] = MappingProxyType(
    {
        "image-numeric": {"max_error_255": 2.0, "psnr_db": 70.0},
        "image-stochastic": {"psnr_db": 45.0, "worst_tile_psnr_db": 38.0, "ssim": 0.995},
        "audio-numeric": {"length_difference": 0.0, "lag_samples": 0.0, "null_peak_dbfs": -110.0},
        "audio-16bit": {"length_difference": 0.0, "lag_samples": 0.0, "null_peak_dbfs": -84.0},
    }
)
"""Limits by the name of a tolerance."""


_LOOSEST: Final[Mapping[str, float]] = MappingProxyType(
    {"max_error_255": 32.0, "psnr_db": 25.0, "null_peak_dbfs": -30.0}
)
"""Beyond these, a picture with another patch in it and a sound with another part in it still pass."""


def too_loose(limits: Mapping[str, float], *, sound: bool) -> str:
    """Say why limits let nearly everything pass; "" where at least one of them holds something out.

    Args:
        limits: of a tolerance.
        sound: whether it is one for sounds.
    """
    deciding = ("null_peak_dbfs",) if sound else ("max_error_255", "psnr_db")
    given = [name for name in deciding if name in limits]
    if not given:
        return f"it has no limit for {' or '.join(deciding)}"
    if all(badness(name, limits[name]) > badness(name, _LOOSEST[name]) for name in given):
        name = given[0]
        return f"{name} {limits[name]:g} lets nearly everything pass; at worst {_LOOSEST[name]:g}"
    return ""


def badness(name: str, value: float) -> float:
    """Order values of a figure: the larger, the worse."""
    if name in AT_LEAST:
        return -value
    return abs(value) if name in _SIGNED else value


def worst(many: Iterable[Mapping[str, float]]) -> dict[str, float]:
    """Give the worst value of each figure over several comparisons."""
    found: dict[str, float] = {}
    for each in many:
        for name, value in each.items():
            if name not in found or badness(name, value) > badness(name, found[name]):
                found[name] = value
    return found


def beyond(figures: Mapping[str, float], limits: Mapping[str, float]) -> list[str]:
    """Name the figures that are beyond their limits, or were not measured; NaN is beyond each."""
    return [
        name for name, limit in limits.items()
        if name not in figures or not badness(name, figures[name]) <= badness(name, limit)
    ]  # fmt: skip
