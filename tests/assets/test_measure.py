"""Claims about what is measured from delivered files, against known answers."""

from __future__ import annotations

import math
import shutil
import subprocess
from pathlib import Path

import numpy as np
import PIL
import pytest
import soundfile
from hypothesis import given, settings
from hypothesis import strategies as st
from mediafiles import encode
from PIL import Image

from twice.assets.errors import AssetMissing, PayloadRefused
from twice.assets.log.block import NotApplicable
from twice.assets.media.measure import LoudnessMeter, TruePeakMeter, measure_file, weighting_filters


def sine(level_dbfs: float, seconds: float, hz: float = 1000, rate: int = 48000, channels: int = 2):
    times = np.arange(round(seconds * rate)) / rate
    wave = 10 ** (level_dbfs / 20) * np.sin(2 * np.pi * hz * times)
    return np.repeat(wave[:, None], channels, axis=1)


def loudness(frames, rate: int = 48000, piece: int = 1 << 17) -> float | None:
    return feed(LoudnessMeter(rate, frames.shape[1]), frames, piece).loudness_lufs()


def true_peak(frames, piece: int = 1 << 17) -> float | None:
    return feed(TruePeakMeter(48000, frames.shape[1]), frames, piece).true_peak_dbtp()


def feed(meter, frames, piece: int):
    for start in range(0, len(frames), piece):
        meter.add(frames[start : start + piece])
    return meter


def test_the_filters_at_48_khz_are_those_of_the_recommendation() -> None:
    (b, a), (_, a2) = weighting_filters(48000)

    assert b == pytest.approx([1.53512485958697, -2.69169618940638, 1.19839281085285])
    assert a == pytest.approx([1, -1.69065929318241, 0.73248077421585])
    assert a2 == pytest.approx([1, -1.99004745483398, 0.99007225036621])


# EBU Tech 3341, version 4, table 1, cases 1 to 5: level in dBFS and seconds of each part; -23 or -33 LUFS, +-0.1.
EBU = [
    ([(-23, 20)], -23.0),
    ([(-33, 20)], -33.0),
    ([(-36, 10), (-23, 60), (-36, 10)], -23.0),
    ([(-72, 10), (-36, 10), (-23, 60), (-36, 10), (-72, 10)], -23.0),
    ([(-26, 20), (-20, 20.1), (-26, 20)], -23.0),
]
SURROUND = [-28, -28, -24, -30, -30]  # case 6: left, right, centre, surrounds; -23 LUFS
# Cases 15 to 19: frequency as a share of the rate, phase in degrees, amplitude; the true peak, +0.2, -0.4.
PEAKS = [(4, 0, 0.5, -6), (4, 45, 0.5, -6), (6, 60, 0.5, -6), (8, 67.5, 0.5, -6), (4, 45, 1.41, 3)]


@pytest.mark.parametrize(("rate", "case"), [*((48000, case) for case in range(5)), (22050, 4)])
def test_the_cases_of_the_ebu_are_read_as_they_say(rate: int, case: int) -> None:
    parts, expected = EBU[case]
    frames = np.concatenate([sine(*part, rate=rate, channels=1) for part in parts])

    assert loudness(frames.repeat(2, axis=1), rate) == pytest.approx(expected, abs=0.1)


def test_channels_are_weighted_as_the_recommendation_says() -> None:
    frames = np.concatenate([sine(level, 20, channels=1) for level in SURROUND], axis=1)

    assert loudness(frames) == pytest.approx(-23.0, abs=0.1)
    assert loudness(sine(0, 5, hz=997, channels=1)) == pytest.approx(-3.01, abs=0.01)


@pytest.mark.parametrize(("share", "degrees", "amplitude", "expected"), PEAKS)
def test_a_true_peak_lies_between_samples(
    share: int, degrees: float, amplitude: float, expected: float
) -> None:
    times = np.arange(24000)
    wave = amplitude * np.sin(2 * np.pi * times / share + math.radians(degrees))
    fade = np.clip(
        np.minimum(times, times[::-1]) / 2400, 0, 1
    )  # an edge would reach above the tone

    peak = true_peak((wave * fade)[:, None])

    assert expected - 0.4 <= peak <= expected + 0.2


def ask_sox(*arguments: object) -> None:
    if shutil.which("sox") is None:
        pytest.skip("there is no program sox")
    subprocess.run(["sox", *map(str, arguments)], check=True, stdin=subprocess.DEVNULL)


@pytest.mark.heavy
@pytest.mark.parametrize("form", ["wav", "flac"])
@pytest.mark.parametrize("case", range(6))
def test_the_cases_that_sox_makes_are_read_as_they_say(
    case: int, form: str, tmp_path: Path
) -> None:
    """The program starts, because the judge is not this library: its sine, its levels, its files."""
    parts, expected = EBU[case] if case < 5 else ([(level, 20) for level in SURROUND], -23.0)
    names = [tmp_path / f"{at}.wav" for at in range(len(parts))]
    for name, (level, seconds) in zip(names, parts, strict=True):
        shape = ("-n", "-b", 24, "-r", 48000, "-c", 2 if case < 5 else 1, name)
        ask_sox("-D", *shape, "synth", seconds, "sine", 1000, "gain", level)
    ask_sox("-D", *(() if case < 5 else ("-M",)), *names, tmp_path / f"whole.{form}")

    measured = measure_file(tmp_path / f"whole.{form}").measured

    assert measured.loudness_lufs == pytest.approx(expected, abs=0.1)
    assert measured.duration_s == pytest.approx(sum(each for _, each in parts) if case < 5 else 20)


@pytest.mark.heavy
@pytest.mark.parametrize(("share", "degrees", "amplitude", "expected"), PEAKS)
def test_the_peaks_that_sox_makes_are_read_as_they_say(
    share: int, degrees: float, amplitude: float, expected: float, tmp_path: Path
) -> None:
    """The program starts, because the judge is not this library; floats, because one case is above full scale."""
    path, percent = tmp_path / "a.wav", degrees / 3.6
    shape = ("-n", "-e", "floating-point", "-b", 32, "-r", 48000, "-c", 1, path)
    ask_sox("-D", *shape, "synth", 1, "sine", 48000 // share, 0, percent, "fade", 0.1, "gain", -20)
    samples, rate = soundfile.read(path)
    soundfile.write(path, samples * 10 * amplitude, rate, subtype="FLOAT")

    peak = measure_file(path).measured.true_peak_dbtp

    assert expected - 0.4 <= peak <= expected + 0.2


NOISE = np.random.default_rng(3).normal(0, 0.1, (30_000, 2))


@settings(deadline=None, max_examples=10)
@given(st.integers(5000, 30_000))
def test_the_pieces_do_not_matter(piece: int) -> None:
    assert loudness(NOISE, piece=piece) == pytest.approx(loudness(NOISE), abs=1e-6)
    assert true_peak(NOISE, piece) == true_peak(NOISE)


def test_the_fast_filter_is_the_recursive_one() -> None:
    signal = pytest.importorskip("scipy.signal")
    meter, slow = LoudnessMeter(22050, 2), NOISE
    for b, a in weighting_filters(22050):
        slow = signal.lfilter(b, a, slow, axis=0)

    fast = [meter._filter(NOISE[at : at + 8000]) for at in range(0, len(NOISE), 8000)]
    assert np.abs(np.concatenate(fast) - slow).max() < 1e-10


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

    assert (measured.sample_rate_hz, measured.channels) == (44100, 2)
    assert measured.bit_depth == depth or isinstance(measured.bit_depth, NotApplicable)
    assert measured.duration_s == pytest.approx(2, abs=0.1)
    assert measured.loudness_lufs == pytest.approx(-16, abs=tolerance)
    assert measured.decoder.startswith(("soundfile ", "PyAV "))
    assert asset.size_bytes == path.stat().st_size


@pytest.mark.parametrize(
    ("frames", "rate", "reason"),
    [
        (sine(-16, 0.3), 48000, "shorter than 0.4 s"),
        (sine(-16, 1) * 0, 48000, "silent"),
        (sine(-16, 2, hz=50, rate=800), 800, "a rate of 800 Hz"),
    ],
)
def test_what_has_no_loudness_says_why(frames, rate: int, reason: str, tmp_path: Path) -> None:
    soundfile.write(tmp_path / "a.wav", frames, rate)

    assert measure_file(tmp_path / "a.wav").measured.loudness_lufs.reason.startswith(reason)


def test_an_image_is_measured(tmp_path: Path) -> None:
    Image.new("RGBA", (40, 30), (1, 2, 3, 4)).save(tmp_path / "a.png")
    asset = measure_file(tmp_path / "a.png")
    found = asset.measured

    assert (found.width_px, found.height_px, found.mode) == (40, 30, "RGBA")
    assert found.decoder == f"pillow {PIL.__version__}"
    assert (asset.media_type, asset.payload.method) == ("image/png", "pixels-rgba8/1")


def test_what_is_not_there_or_damaged_is_one_error(tmp_path: Path) -> None:
    with pytest.raises(AssetMissing):
        measure_file(tmp_path / "a.png")
    soundfile.write(tmp_path / "b.wav", np.full(48000, np.nan), 48000, subtype="FLOAT")
    with pytest.raises(PayloadRefused, match="a sample after 0 frames is NaN or infinite"):
        measure_file(tmp_path / "b.wav")


def test_a_format_that_soundfile_does_not_know_keeps_the_facts_of_its_container(
    tmp_path: Path,
) -> None:
    path = tmp_path / "a.m4a"
    path.write_bytes(encode("ipod", "aac"))
    measured = measure_file(path).measured

    assert (measured.sample_rate_hz, measured.channels, measured.loudness_lufs) == (48000, 1, None)
    assert measured.duration_s == pytest.approx(0.576, abs=0.001)
