"""Claims about renderers of Debian, held by running them: which grade each reaches."""

from __future__ import annotations

import shutil
import struct
from pathlib import Path

import pytest
from renders import laid, put, rendered, sealed

from twice.assets.errors import InputChanged
from twice.assets.gate.gate import run_gate
from twice.assets.gate.report import AssetGateResult
from twice.assets.log.models import RerenderOutcome
from twice.assets.media.similarity import exceed_limits
from twice.assets.render.calibration import calibrate, write_limits
from twice.assets.render.rerender import Rerender, RerenderOptions, rerender
from twice.assets.store.seal import Sealed
from twice.assets.store.store import Store

pytestmark = pytest.mark.heavy

pytest.importorskip("soundfile")
pytest.importorskip("PIL")

BANKS = sorted(Path("/usr/share/sounds/sf2").glob("*.sf2"), key=lambda each: each.stat().st_size)

SCENE = """#version 3.7;
global_settings { assumed_gamma 1.0 %s }
camera { location <0,1,-4> look_at <0,0.5,0> }
light_source { <3,5,-4> color rgb 0.8 %s }
plane { y,0 pigment { checker color rgb 1 color rgb 0.2 } }
sphere { <0,0.7,0>,0.7 pigment { color rgb <0.9,0.2,0.2> } }
"""


def needs(program: str) -> None:
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed")


def theme(store: Store) -> str:
    """Five notes as a MIDI file."""
    notes = b"".join(bytes([0, 0x90, 60 + i, 100, 0x60, 0x80, 60 + i, 0]) for i in range(5))
    track = notes + b"\x00\xff\x2f\x00"
    head = b"MThd" + struct.pack(">IHHH", 6, 0, 1, 96)
    path = store.root / "theme.mid"
    path.write_bytes(head + b"MTrk" + struct.pack(">I", len(track)) + track)
    return str(path)


def again(one: Sealed, runs: int = 2) -> Rerender:
    return rerender(one.path, RerenderOptions(runs=runs), lambda what: None)


@pytest.mark.parametrize(
    ("suffix", "grade"), [("wav", "bytes"), ("flac", "bytes"), ("oga", "payload")]
)
def test_fluidsynth(tmp_path: Path, suffix: str, grade: str) -> None:
    needs("fluidsynth")
    if not BANKS:
        pytest.skip("no sound font is installed")
    store = laid(tmp_path)
    name = f"theme.{suffix}"
    one = sealed(store, rendered(
        store, name, "fluidsynth", "-ni", "-F", str(store.root / name), "-T", suffix, "-r", "24000",
        str(BANKS[0]), theme(store), grade=grade, program=False, seedless="",
    ))  # fmt: skip
    found = again(one)
    assert (found.outcome, found.grade) == (RerenderOutcome.REPRODUCED, grade), found.reason
    assert run_gate(store.root).result is AssetGateResult.PASS


def test_another_sound_font_is_refused_by_name(tmp_path: Path) -> None:
    needs("fluidsynth")
    if not BANKS:
        pytest.skip("no sound font is installed")
    store = laid(tmp_path)
    bank = tmp_path / "bank.sf2"
    shutil.copyfile(BANKS[0], bank)
    out = str(store.root / "a.wav")
    one = sealed(store, rendered(
        store, "a.wav", "fluidsynth", "-ni", "-F", out, str(bank), theme(store), program=False,
    ))  # fmt: skip
    with bank.open("ab") as file:
        file.write(b"x")
    with pytest.raises(InputChanged, match=r"bank\.sf2"):
        again(one)


@pytest.mark.parametrize("voice", ["en", "en+whisper"])
def test_espeak_reaches_bytes(tmp_path: Path, voice: str) -> None:
    needs("espeak-ng")
    store = laid(tmp_path)
    out = str(store.root / "line.wav")
    one = sealed(store, rendered(
        store, "line.wav", "espeak-ng", "-v", voice, "-w", out, "The tide; it $(turns).",
        program=False, seedless="",
    ))  # fmt: skip
    found = again(one)
    assert (found.outcome, found.grade) == (RerenderOutcome.REPRODUCED, "bytes"), found.reason
    assert run_gate(store.root).result is AssetGateResult.PASS


def traced(
    store: Store, grade: str, threads: int, *, radiosity: str = "", light: str = ""
) -> Sealed:
    scene = put(store, "scene.pov", SCENE % (radiosity, light))
    out = str(store.root / "scene.png")
    return sealed(store, rendered(
        store, "scene.png", "povray", f"+I{scene}", f"+O{out}", "+W128", "+H96", "-D",
        f"+WT{threads}", grade=grade, program=False, seedless="",
    ))  # fmt: skip


def test_povray_without_chance_reaches_the_payload(tmp_path: Path) -> None:
    needs("povray")
    found = again(traced(laid(tmp_path), "payload", 2))
    assert found.outcome == RerenderOutcome.REPRODUCED, found.reason
    assert found.grade in {"bytes", "payload"}  # Bytes only within one second: it writes the time.


def test_povray_with_radiosity_on_two_threads_holds_within_calibrated_limits(
    tmp_path: Path,
) -> None:
    needs("povray")
    store = laid(tmp_path)
    settings = "radiosity { count 40 error_bound 0.8 }"
    light = "area_light <1,0,0>,<0,0,1>,3,3 jitter"
    one = traced(store, "tolerance", 2, radiosity=settings, light=light)
    found = calibrate(one.path, RerenderOptions(runs=4), (), lambda what: None)
    assert found.figures["psnr_db"] > 35
    assert found.grade == "tolerance"
    write_limits(found)
    later = again(one, 3)
    assert later.figures["psnr_db"] > 35
    held = not exceed_limits(
        later.figures, found.limits
    )  # How it scatters depends on the load as well.
    assert (later.outcome == RerenderOutcome.REPRODUCED) == held


def test_povray_with_radiosity_on_one_thread_reaches_the_payload(tmp_path: Path) -> None:
    needs("povray")
    settings = "radiosity { count 40 error_bound 0.8 }"
    found = again(traced(laid(tmp_path), "payload", 1, radiosity=settings))
    assert found.outcome == RerenderOutcome.REPRODUCED, found.reason
