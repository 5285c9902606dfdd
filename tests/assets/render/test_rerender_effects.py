"""Claims about renderers from the package index, held by running them: which grade each reaches."""

from __future__ import annotations

from pathlib import Path

import pytest
from renders import laid, put, rendered, sealed

import environments
from twice.assets.log.models import RerenderOutcome
from twice.assets.render.rerender import RerenderOptions, rerender
from twice.assets.store.seal import Sealed

pytestmark = pytest.mark.heavy

pytest.importorskip("soundfile")
pytest.importorskip("PIL")

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


@pytest.fixture(scope="module")
def python() -> str:
    found, why = environments.effects()
    if not found:
        pytest.skip(why)
    return found


def sounding(tmp_path: Path, python: str, program: str, *typed: str) -> Sealed:
    """Record and seal a sound that a program in another environment renders, promised in bytes."""
    store = laid(tmp_path)
    script, out = put(store, "render.py", program), str(store.root / "cue.wav")
    return sealed(store, rendered(store, "cue.wav", python, script, out, *typed))


@pytest.mark.parametrize(
    ("program", "option"),
    [
        pytest.param(CHAIN, "0.6", id="pedalboard, five effects"),
        pytest.param(FAUST, "512", id="DawDreamer, Faust"),
        pytest.param(ENCODER, "7", id="ffmpeg, seeded noise"),
    ],
)
def test_bytes_are_reached(tmp_path: Path, python: str, program: str, option: str) -> None:
    found = rerender(
        sounding(tmp_path, python, program, option).path, RerenderOptions(runs=2), print
    )
    assert (found.outcome, found.grade) == (RerenderOutcome.REPRODUCED, "bytes"), found.reason


def test_noise_without_a_seed_is_told_from_it(tmp_path: Path, python: str) -> None:
    found = rerender(sounding(tmp_path, python, ENCODER, "").path, RerenderOptions(runs=1), print)
    assert found.outcome is RerenderOutcome.DIFFERS


def test_denoising_on_one_thread_reaches_the_payload(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    store = laid(tmp_path)
    script, out = put(store, "denoise.py", DENOISE), str(store.root / "sky.png")
    done = rendered(
        store,
        "sky.png",
        "python",
        script,
        "{seed}",
        out,
        seed="7",
        grade="payload",
        timeout_s=300.0,
    )
    found = rerender(sealed(store, done).path, RerenderOptions(runs=1), print)
    assert found.outcome is RerenderOutcome.REPRODUCED, found.reason
    assert found.grade in {"bytes", "payload"}
