"""Claims about figures of likeness, held against values that are known in closed form."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from twice.assets.errors import PayloadRefused
from twice.assets.media import similarity
from twice.assets.media.similarity import (
    BEST_DB,
    PROFILES,
    compare_pixels,
    compare_samples,
    exceed_limits,
    merge_worst,
)

CHANCE = np.random.default_rng(5)
NOISE = CHANCE.normal(0, 0.1, (4000, 2))
PLANE = CHANCE.integers(0, 256, (70, 50, 3), dtype=np.uint8)
SILENCE = np.zeros_like(NOISE)


def test_what_is_equal_reaches_the_best_of_each_figure() -> None:
    figures = compare_samples(NOISE, NOISE.copy())

    assert figures["null_peak_dbfs"] == figures["null_rms_dbfs"] == -BEST_DB
    assert (figures["lag_samples"], figures["gain_db"], figures["polarity"]) == (0, 0, 1)
    assert compare_pixels(PLANE, PLANE.copy()) == {
        "max_error_255": 0, "psnr_db": BEST_DB, "worst_tile_psnr_db": BEST_DB, "ssim": 1,
    }  # fmt: skip


def test_a_tenth_of_a_decibel_leaves_the_residual_of_its_factor() -> None:
    """At a peak of -9.3 dBFS that is the -48 dBFS of the table; nothing is left after aligning."""
    tone = (np.sin(np.arange(48000) * 0.1) * 10 ** (-9.3 / 20))[:, None]
    figures = compare_samples(tone, tone * 10 ** (0.1 / 20))
    assert figures["gain_db"] == pytest.approx(0.1, abs=1e-4)
    assert figures["null_peak_dbfs"] == pytest.approx(-48.0, abs=0.1)
    assert figures["aligned_null_peak_dbfs"] < -200


@given(st.floats(0.1, 4), st.integers(-60, 60), st.sampled_from([1, -1]))
def test_gain_lag_and_polarity_are_found_together(gain: float, late: int, sign: int) -> None:
    padded = np.pad(NOISE[:1000], ((100, 100), (0, 0)))
    figures = compare_samples(padded, np.roll(padded, late, axis=0) * gain * sign)

    assert (figures["lag_samples"], figures["polarity"]) == (late, sign)
    assert figures["gain_db"] == pytest.approx(20 * np.log10(gain), abs=1e-3)
    assert figures["aligned_null_peak_dbfs"] < -200
    if sign < 0 and not late:
        peak = 20 * np.log10((1 + gain) * np.abs(padded).max())
        assert figures["null_peak_dbfs"] == pytest.approx(peak, abs=1e-3)


def test_a_requantised_sound_is_within_the_tolerance_of_16_bits_and_no_finer_one() -> None:
    coarse = np.round(NOISE * 32768) / 32768
    figures = compare_samples(NOISE, coarse)
    assert figures["null_peak_dbfs"] == pytest.approx(20 * np.log10(0.5 / 32768), abs=0.1)
    assert exceed_limits(figures, PROFILES["audio-16bit"]) == []
    assert exceed_limits(figures, PROFILES["audio-numeric"]) == ["null_peak_dbfs"]


def test_another_length_is_beyond_every_tolerance() -> None:
    figures = compare_samples(NOISE, NOISE[:-1])
    assert figures["length_difference"] == -1
    assert "length_difference" in exceed_limits(figures, PROFILES["audio-16bit"])


@pytest.mark.parametrize("pair", [(SILENCE, SILENCE), (SILENCE, NOISE), (NOISE, SILENCE)])
def test_silence_has_finite_figures(pair: tuple[np.ndarray, np.ndarray]) -> None:
    assert all(np.isfinite(list(compare_samples(*pair).values())))


def test_one_step_everywhere_has_the_noise_ratio_of_one_in_255() -> None:
    even = np.full((40, 40, 3), 100, np.uint8)
    figures = compare_pixels(even, even + 1)
    assert figures["psnr_db"] == figures["worst_tile_psnr_db"] == pytest.approx(48.1308)
    assert figures["max_error_255"] == 1


def test_structure_is_what_the_formula_says_window_by_window() -> None:
    a, b = PLANE[:14, :13, 0] * 1.0, PLANE[:14, :13, 1] * 1.0
    line = np.exp(-((np.arange(11) - 5) ** 2) / (2 * 1.5**2))
    weights = np.outer(line, line) / line.sum() ** 2
    c1, c2 = (0.01 * 255) ** 2, (0.03 * 255) ** 2
    found = []
    for y, x in np.ndindex(4, 3):
        one, two = a[y : y + 11, x : x + 11], b[y : y + 11, x : x + 11]
        m1, m2 = (weights * one).sum(), (weights * two).sum()
        v1, v2 = (weights * (one - m1) ** 2).sum(), (weights * (two - m2) ** 2).sum()
        both = (weights * (one - m1) * (two - m2)).sum()
        top = (2 * m1 * m2 + c1) * (2 * both + c2)
        found.append(top / ((m1**2 + m2**2 + c1) * (v1 + v2 + c2)))

    assert similarity.measure_ssim(a, b).ravel() == pytest.approx(found)


def test_a_damaged_patch_shows_in_the_worst_tile_and_hardly_in_the_whole() -> None:
    large = np.full((320, 320, 3), 128, np.uint8)
    spot = large.copy()
    spot[100:110, 100:110] += 60
    figures = compare_pixels(large, spot)
    assert figures["psnr_db"] > 40
    assert figures["worst_tile_psnr_db"] < 27
    assert exceed_limits(figures, PROFILES["image-stochastic"])


def test_the_worst_of_several_goes_by_what_is_bad_of_each_figure() -> None:
    many = [{"psnr_db": 50.0, "lag_samples": -3.0}, {"psnr_db": 40.0, "lag_samples": 2.0}]
    assert merge_worst(many) == {"psnr_db": 40.0, "lag_samples": -3.0}
    assert exceed_limits({}, {"ssim": 0.9}) == ["ssim"]
    assert exceed_limits({"ssim": float("nan")}, {"ssim": 0.9}) == ["ssim"]


@pytest.mark.parametrize("peak", [1.0, 255.0, 0.01])
def test_floats_are_compared_at_their_own_full_scale(peak: float) -> None:
    """Whether white is 1, 255 or 0.01, noise instead of black is as far from it."""
    noise = CHANCE.random((64, 64, 1)).astype(np.float32) * np.float32(peak)
    black = np.zeros_like(noise)
    for pair in ((black, noise), (noise, black)):
        figures = compare_pixels(*pair)
        assert figures["psnr_db"] == pytest.approx(10 * np.log10(3), abs=0.2)
        assert len(exceed_limits(figures, PROFILES["image-stochastic"])) == 3


def test_a_picture_in_bands_has_the_figures_of_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    a = CHANCE.integers(0, 256, (200, 40, 3), dtype=np.uint8)
    b = a ^ CHANCE.integers(0, 2, a.shape, dtype=np.uint8)
    whole = compare_pixels(a, b)
    monkeypatch.setattr(similarity, "_BAND_ROWS", 64)
    assert compare_pixels(a, b) == whole


def test_what_cannot_be_compared_is_said(tmp_path: Path) -> None:
    first, wide, grey, cut = (tmp_path / f"{name}.png" for name in ("a", "wide", "grey", "cut"))
    Image.new("RGB", (8, 8)).save(first)
    Image.new("RGB", (9, 8)).save(wide)
    Image.new("L", (8, 8)).save(grey)
    cut.write_bytes(first.read_bytes()[:45])
    assert similarity.compare_images(first, wide) == ({}, "8x8 pixels and 9x8 pixels")
    assert similarity.compare_images(first, grey) == ({}, "RGB of 1 frame and L of 1 frame")
    with pytest.raises(PayloadRefused, match="cannot be compared"):
        similarity.compare_images(first, cut)
