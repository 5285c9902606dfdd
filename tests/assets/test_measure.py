"""Claims about what is measured from delivered files, against known answers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import PIL
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mediafiles import encode

from twice.assets.errors import AssetMissing, PayloadRefused
from twice.assets.log.block import NotApplicable
from twice.assets.media.measure import LoudnessMeter, TruePeakMeter, measure_file, weighting_filters

soundfile = pytest.importorskip("soundfile")
Image = pytest.importorskip("PIL.Image")


def sine(level_dbfs: float, seconds: float, hz: float = 1000, rate: int = 48000, channels: int = 2):
    times = np.arange(round(seconds * rate)) / rate
    wave = 10 ** (level_dbfs / 20) * np.sin(2 * np.pi * hz * times)
    return np.repeat(wave[:, None], channels, axis=1)


def loudness(frames, rate: int = 48000, piece: int = 1 << 17) -> float | None:
    meter = LoudnessMeter(rate, frames.shape[1])
    for start in range(0, len(frames), piece):
        meter.add(frames[start : start + piece])
    return meter.loudness_lufs()


def test_the_filters_at_48_khz_are_those_of_the_recommendation() -> None:
    (b, a), (_, a2) = weighting_filters(48000)

    assert b == pytest.approx([1.53512485958697, -2.69169618940638, 1.19839281085285])
    assert a == pytest.approx([1, -1.69065929318241, 0.73248077421585])
    assert a2 == pytest.approx([1, -1.99004745483398, 0.99007225036621])


# EBU Tech 3341, version 4, table 1: level in dBFS and seconds of each part, and what is read, +-0.1 LU.
EBU = [
    ([(-23, 20)], -23.0),
    ([(-33, 20)], -33.0),
    ([(-36, 10), (-23, 60), (-36, 10)], -23.0),
    ([(-72, 10), (-36, 10), (-23, 60), (-36, 10), (-72, 10)], -23.0),
    ([(-26, 20), (-20, 20.1), (-26, 20)], -23.0),
]


@pytest.mark.parametrize(("parts", "expected"), EBU)
@pytest.mark.parametrize("rate", [48000, 22050])
def test_the_cases_of_the_ebu_are_read_as_they_say(parts, expected: float, rate: int) -> None:
    frames = np.concatenate([sine(level, seconds, rate=rate) for level, seconds in parts])

    assert loudness(frames, rate) == pytest.approx(expected, abs=0.1)


def test_the_case_of_five_channels_is_read_as_it_says() -> None:
    """EBU Tech 3341, case 6: -28 in left and right, -24 in the centre, -30 in the surrounds."""
    levels = [-28, -28, -24, -30, -30]
    frames = np.concatenate([sine(level, 20, channels=1) for level in levels], axis=1)

    assert loudness(frames) == pytest.approx(-23.0, abs=0.1)


def test_a_full_sine_in_one_channel_is_what_the_recommendation_says() -> None:
    assert loudness(sine(0, 5, hz=997, channels=1)) == pytest.approx(-3.01, abs=0.01)


@settings(deadline=None)
@given(st.integers(100, 60000), st.integers(0, 5))
def test_the_pieces_do_not_matter(piece: int, seed: int) -> None:
    frames = np.random.default_rng(seed).normal(0, 0.1, (30000, 2))
    peaks = []
    for size in (piece, 30000):
        meter = TruePeakMeter(48000, 2)
        for start in range(0, len(frames), size):
            meter.add(frames[start : start + size])
        peaks.append(meter.true_peak_dbtp())

    assert loudness(frames, piece=piece) == pytest.approx(loudness(frames), abs=1e-6)
    assert peaks[0] == peaks[1]


def test_the_fast_filter_is_the_recursive_one() -> None:
    signal = pytest.importorskip("scipy.signal")
    frames = np.random.default_rng(3).normal(0, 0.2, (200_000, 1))
    meter = LoudnessMeter(44100, 1)
    slow = frames
    for b, a in weighting_filters(44100):
        slow = signal.lfilter(b, a, slow, axis=0)

    fast = [meter._filter(frames[at : at + 70_000]) for at in range(0, len(frames), 70_000)]
    assert np.abs(np.concatenate(fast) - slow).max() < 1e-10


def test_a_true_peak_lies_between_samples() -> None:
    """EBU Tech 3341, case 16: a quarter of the rate, phase 45 degrees, peak -6 dB; +0.2, -0.4."""
    times = np.arange(48000)
    wave = 0.5 * np.sin(2 * np.pi * 0.25 * times + np.pi / 4)
    meter = TruePeakMeter(48000, 1)
    meter.add(wave[:, None])
    peak = meter.true_peak_dbtp()

    assert peak is not None
    assert 20 * np.log10(np.abs(wave).max()) == pytest.approx(-9.03, abs=0.01)
    assert -6.4 <= peak <= -5.8


@pytest.mark.parametrize(
    ("name", "subtype", "depth", "tolerance"),
    [
        ("a.wav", "PCM_16", 16, 0.05), ("a.wav", "PCM_24", 24, 0.05), ("a.wav", "FLOAT", 32, 0.05),
        ("a.flac", "PCM_24", 24, 0.05), ("a.ogg", "VORBIS", None, 0.5), ("a.mp3", None, None, 0.5),
        ("a.aiff", "PCM_16", 16, 0.05),
    ],
)  # fmt: skip
def test_a_sound_file_is_measured(
    tmp_path: Path, name: str, subtype: str | None, depth: int | None, tolerance: float
) -> None:
    path = tmp_path / name
    soundfile.write(path, sine(-16, 2, rate=44100), 44100, subtype=subtype)
    asset = measure_file(path)
    measured = asset.measured

    assert measured is not None
    assert (measured.sample_rate_hz, measured.channels) == (44100, 2)
    assert measured.bit_depth == depth or isinstance(measured.bit_depth, NotApplicable)
    assert measured.duration_s == pytest.approx(2, abs=0.1)
    assert measured.loudness_lufs == pytest.approx(-16, abs=tolerance)
    assert asset.size_bytes == path.stat().st_size


def test_what_has_no_loudness_says_why(tmp_path: Path) -> None:
    soundfile.write(tmp_path / "short.wav", sine(-16, 0.3), 48000)
    soundfile.write(tmp_path / "silent.wav", sine(-16, 1) * 0, 48000)
    found = [measure_file(tmp_path / f"{each}.wav").measured for each in ("short", "silent")]

    assert [each.loudness_lufs.reason[:6] for each in found] == ["shorte", "silent"]  # type: ignore[union-attr]


def test_an_image_is_measured(tmp_path: Path) -> None:
    Image.new("RGBA", (40, 30), (1, 2, 3, 4)).save(tmp_path / "a.png")
    asset = measure_file(tmp_path / "a.png")

    assert asset.measured is not None
    assert (asset.measured.width_px, asset.measured.height_px, asset.measured.mode) == (
        40,
        30,
        "RGBA",
    )
    assert (asset.media_type, asset.payload.method) == ("image/png", "pixels-rgba8/1")  # type: ignore[union-attr]


def test_what_is_not_there_or_damaged_is_one_error(tmp_path: Path) -> None:
    with pytest.raises(AssetMissing):
        measure_file(tmp_path / "a.png")
    (tmp_path / "b.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR")
    with pytest.raises(PayloadRefused):
        measure_file(tmp_path / "b.png")


class PublicLibrary:
    """libsndfile without the constants that stand in a private module of soundfile alone."""

    def __init__(self, library: object) -> None:
        self._library = library

    def __getattr__(self, name: str) -> object:
        assert not name.startswith("SF_ERR_UN"), name
        return getattr(self._library, name)


def test_a_format_that_soundfile_does_not_know_keeps_the_facts_of_its_container(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(soundfile, "_snd", PublicLibrary(soundfile._snd))
    path = tmp_path / "a.m4a"
    path.write_bytes(encode("ipod", "aac"))
    measured = measure_file(path).measured

    assert (measured.sample_rate_hz, measured.channels, measured.loudness_lufs) == (48000, 1, None)
    assert measured.duration_s == pytest.approx(0.576, abs=0.001)


def test_the_libraries_that_read_a_file_are_recorded(tmp_path: Path) -> None:
    Image.new("RGB", (4, 3)).save(tmp_path / "a.png")
    soundfile.write(tmp_path / "a.wav", sine(-16, 1), 48000)
    (tmp_path / "a.svg").write_text("<svg/>")
    found = [measure_file(tmp_path / name).measured.decoder for name in ("a.png", "a.wav", "a.svg")]

    assert found[0] == f"pillow {PIL.__version__}"
    assert found[1].startswith(f"soundfile {soundfile.__version__}, libsndfile")
    assert found[2] is None
