"""Claims about renderers of Debian and of the package index, held by running them: which grade each reaches."""

from __future__ import annotations

import shutil
import struct
from pathlib import Path

import pytest
from hotstore import HOW
from renders import again, put, rendered, sealed

import environments
from twice.assets.errors import InputChanged
from twice.assets.gate.gate import run_gate
from twice.assets.gate.report import AssetGateResult
from twice.assets.log.models import RerenderOutcome
from twice.assets.media.similarity import exceed_limits
from twice.assets.render.calibration import calibrate, write_limits
from twice.assets.render.recipe import RerenderOptions
from twice.assets.store.seal import Sealed
from twice.assets.store.store import Store

pytestmark = pytest.mark.heavy

TWICE = RerenderOptions(runs=2)
BANKS = sorted(Path("/usr/share/sounds/sf2").glob("*.sf2"), key=lambda each: each.stat().st_size)

SCENE = """#version 3.7;
global_settings { assumed_gamma 1.0 %s }
camera { location <0,1,-4> look_at <0,0.5,0> }
light_source { <3,5,-4> color rgb 0.8 %s }
plane { y,0 pigment { checker color rgb 1 color rgb 0.2 } }
sphere { <0,0.7,0>,0.7 pigment { color rgb <0.9,0.2,0.2> } }
"""
RADIOSITY = "radiosity { count 40 error_bound 0.8 }"

WRITE = """
import sys, wave
import numpy as np
dry = (np.sin(np.arange(24000) * 0.05) * np.linspace(1, 0, 24000)).astype(np.float32)
def write(sound):
    with wave.open(sys.argv[1], "wb") as file:
        file.setnchannels(1); file.setsampwidth(2); file.setframerate(24000)
        file.writeframes((np.clip(sound.reshape(-1), -1, 1) * 32767).astype("<i2").tobytes())
"""
CHAIN = (
    WRITE
    + """
from pedalboard import Chorus, Compressor, Delay, HighpassFilter, Pedalboard, Reverb
chain = Pedalboard([
    HighpassFilter(140.0), Compressor(-20.0, 3.0), Chorus(), Delay(0.11), Reverb(float(sys.argv[2]))
])
write(chain(dry, 24000, reset=True))
"""
)
FAUST = (
    WRITE
    + """
import dawdreamer
engine = dawdreamer.RenderEngine(24000, int(sys.argv[2]))
voice = engine.make_faust_processor("voice")
voice.set_dsp_string('import("stdfaust.lib"); process = os.osc(330) * 0.3 + no.noise * 0.05;')
engine.load_graph([(voice, [])])
engine.render(1.0)
write(engine.get_audio()[0])
"""
)
ENCODER = """
import subprocess, sys
import imageio_ffmpeg
noise = "anoisesrc=d=1:r=24000" + (f":seed={sys.argv[2]}" if sys.argv[2] else "")
command = [imageio_ffmpeg.get_ffmpeg_exe(), "-loglevel", "error", "-y", "-f", "lavfi", "-i", noise]
subprocess.run([*command, "-bitexact", sys.argv[1]], check=True)
"""
DENOISE = """
import sys
import numpy as np, torch
from PIL import Image
torch.manual_seed(int(sys.argv[1]))
torch.set_num_threads(1)
layers = [torch.nn.Conv2d(a, b, 3, padding=1) for a, b in ((3, 16), (16, 16), (16, 3))]
picture = torch.randn(1, 3, 64, 64)
with torch.no_grad():
    for step in range(12):
        found = picture
        for layer in layers:
            found = torch.tanh(layer(found))
        picture = picture - 0.2 * found
pixels = ((picture[0].clamp(-2, 2) + 2) * 63.75).byte().permute(1, 2, 0).contiguous().numpy()
Image.fromarray(pixels).save(sys.argv[2])
"""


def record_known(store: Store, output: str, *typed: str, grade: str = "bytes") -> Sealed:
    """Record and seal what a listed program renders; the test is skipped without the program."""
    if shutil.which(typed[0]) is None:
        pytest.skip(f"{typed[0]} is not installed")
    done = rendered(store, output, *typed, grade=grade, program=False, seedless="")
    return sealed(store, done)


def play(store: Store, bank: Path, suffix: str, grade: str = "bytes") -> Sealed:
    """Record and seal five notes of a MIDI file."""
    notes = b"".join(bytes([0, 0x90, 60 + i, 100, 0x60, 0x80, 60 + i, 0]) for i in range(5))
    track = notes + b"\x00\xff\x2f\x00"
    head = b"MThd" + struct.pack(">IHHH", 6, 0, 1, 96)
    path, out = store.root / "theme.mid", store.root / f"theme.{suffix}"
    path.write_bytes(head + b"MTrk" + struct.pack(">I", len(track)) + track)
    words = ("-ni", "-F", str(out), "-T", suffix, "-r", "24000", str(bank), str(path))
    return record_known(store, out.name, "fluidsynth", *words, grade=grade)


@pytest.fixture
def bank(tmp_path: Path) -> Path:
    if not BANKS:
        pytest.skip("no sound font is installed")
    return Path(shutil.copyfile(BANKS[0], tmp_path / "bank.sf2"))


@pytest.mark.parametrize(
    ("suffix", "grade"), [("wav", "bytes"), ("flac", "bytes"), ("oga", "payload")]
)
def test_fluidsynth(store: Store, bank: Path, suffix: str, grade: str) -> None:
    one = play(store, bank, suffix, grade)
    found = again(one, TWICE)
    assert (found.outcome, found.grade) == (RerenderOutcome.REPRODUCED, grade), found.reason
    assert run_gate(store.root).result is AssetGateResult.PASS
    with bank.open("ab") as file:
        file.write(b"x")
    with pytest.raises(InputChanged, match=r"bank\.sf2"):
        again(one)


@pytest.mark.parametrize("voice", ["en", "en+whisper"])
def test_espeak_reaches_bytes(store: Store, voice: str) -> None:
    out = str(store.root / "line.wav")
    one = record_known(
        store, "line.wav", "espeak-ng", "-v", voice, "-w", out, "The tide; it $(turns)."
    )
    found = again(one, TWICE)
    assert (found.outcome, found.grade) == (RerenderOutcome.REPRODUCED, "bytes"), found.reason
    assert run_gate(store.root).result is AssetGateResult.PASS


def trace(store: Store, grade: str, threads: int, radiosity: str = "", light: str = "") -> Sealed:
    scene, out = put(store, "scene.pov", SCENE % (radiosity, light)), store.root / "scene.png"
    words = (f"+I{scene}", f"+O{out}", "+W128", "+H96", "-D", f"+WT{threads}")
    return record_known(store, "scene.png", "povray", *words, grade=grade)


@pytest.mark.parametrize(("threads", "radiosity"), [(2, ""), (1, RADIOSITY)])
def test_povray_without_chance_reaches_the_payload(
    store: Store, threads: int, radiosity: str
) -> None:
    found = again(trace(store, "payload", threads, radiosity), TWICE)
    assert found.outcome == RerenderOutcome.REPRODUCED, found.reason
    assert found.grade in {"bytes", "payload"}  # Bytes only within one second: it writes the time.


def test_povray_with_radiosity_on_two_threads_holds_within_calibrated_limits(store: Store) -> None:
    one = trace(store, "tolerance", 2, RADIOSITY, "area_light <1,0,0>,<0,0,1>,3,3 jitter")
    found = calibrate(one.path, RerenderOptions(runs=4), (), print)
    assert (found.grade, found.metrics["psnr_db"] > 35) == ("tolerance", True)
    write_limits(found, HOW.created)
    later = again(one, RerenderOptions(runs=3))
    assert later.metrics["psnr_db"] > 35
    # How it scatters depends on the load as well.
    held = not exceed_limits(later.metrics, found.limits)
    assert (later.outcome == RerenderOutcome.REPRODUCED) == held


def record_elsewhere(store: Store, program: str, option: str) -> Sealed:
    """Record and seal a sound that a program in another environment renders, promised in bytes."""
    python, why = environments.effects()
    if not python:
        pytest.skip(why)
    script, out = put(store, "render.py", program), str(store.root / "cue.wav")
    return sealed(store, rendered(store, "cue.wav", python, script, out, option))


@pytest.mark.parametrize(
    ("program", "option"),
    [
        pytest.param(CHAIN, "0.6", id="pedalboard, five effects"),
        pytest.param(FAUST, "512", id="DawDreamer, Faust"),
        pytest.param(ENCODER, "7", id="ffmpeg, seeded noise"),
    ],
)
def test_bytes_are_reached(store: Store, program: str, option: str) -> None:
    found = again(record_elsewhere(store, program, option), TWICE)
    assert (found.outcome, found.grade) == (RerenderOutcome.REPRODUCED, "bytes"), found.reason


def test_noise_without_a_seed_is_told_from_it(store: Store) -> None:
    assert again(record_elsewhere(store, ENCODER, "")).outcome is RerenderOutcome.DIFFERS


def test_denoising_on_one_thread_reaches_the_payload(store: Store) -> None:
    pytest.importorskip("torch")
    script, out = put(store, "denoise.py", DENOISE), str(store.root / "sky.png")
    typed = ("python", script, "{seed}", out)
    done = rendered(store, "sky.png", *typed, seed=7, grade="payload", timeout_s=3600.0)
    found = again(sealed(store, done))
    assert found.outcome is RerenderOutcome.REPRODUCED, found.reason
    assert found.grade in {"bytes", "payload"}
