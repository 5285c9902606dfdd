"""Claims about forged logs: the store's own run record refutes them, and none passes the gate.

Two renders are recorded once in processes of their own: one under the recorder, one watched from outside. Each forger
seals the forged log again with ``--revise``, so that the index has it as it is.
"""

from __future__ import annotations

import copy
import shutil
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hotstore import HOW, laid, sound
from renders import DRAW, put, rendered, sealed, synth

from completelogs import holder
from twice.assets.gate.gate import run_gate
from twice.assets.gate.report import AssetGateResult
from twice.assets.log.io import canonical_document, read_log, to_document
from twice.assets.render.calibration import write_verdict
from twice.assets.render.rerender import Rerender
from twice.assets.store.seal import seal
from twice.assets.store.store import Store, open_store
from twice.foundation.digests import Algorithm, digest_bytes

pytestmark = pytest.mark.integration

MIX = 'head -c 44 "$3" > "$2"; tail -c +45 "$3" | tr "\\001" "\\007" >> "$2"\n'
WRITE = """
with wave.open(sys.argv[1], "wb") as file:
    file.setnchannels(1); file.setsampwidth(2); file.setframerate(24000)
    file.writeframes((level or os.urandom(2)) * 12000)
"""
BY_CHANCE = {  # What decides the level of a sound, and the text of the row.
    "a clock": ("bytes([int(time.time()) % 90, 1])", "clock"),
    "entropy": ("b''", "entropy"),
    "a program": ("subprocess.check_output(['date', '+%s'])[-3:-1]", "process.start"),
    "a file that no input names": ("open('{level}', 'rb').read()", "{level}"),
    "another interpreter by its path": ("bytes([int(time.time()) % 90, 1])", "watched"),
}
Document = dict[str, Any]


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Record and seal a sound under the recorder, and another one that a shell makes of it."""
    store = laid(tmp_path_factory.mktemp("honest"))
    synth(store)
    script = put(store, "mix.sh", MIX)
    out, base = str(store.root / "mix.wav"), str(store.root / "cue.wav")
    sealed(store, rendered(store, "mix.wav", "sh", script, "{seed}", out, base, seed=7))
    assert run_gate(store.root).wanting() == []
    return store.root.parent


@pytest.fixture
def store(honest: Path, tmp_path: Path) -> Store:
    shutil.copytree(honest, tmp_path / "copy")
    return open_store(tmp_path / "copy" / "hot")


def _set(*pairs: tuple[str, Any]) -> Callable[[Document, Store], None]:
    """Forge values at pointers."""

    def forge(document: Document, _store: Store) -> None:
        for pointer, value in pairs:
            inside, key = holder(document, pointer)
            inside[key] = value

    return forge


def _put_other_script(document: Document, store: Store) -> None:
    text = (store.root / "synth.py").read_bytes() + b"# another\n"
    (store.root / "synth.py").write_bytes(text)
    document["recipe"]["inputs"][0]["sha256"] = digest_bytes(text, Algorithm.SHA256).hex


def _put_other_sound(document: Document, store: Store) -> None:
    path = store.root / document["asset"]["file"]
    data = path.read_bytes()
    path.write_bytes(data[:-40] + b"\x10\x00" * 20)


def _claim_a_key(document: Document, _store: Store) -> None:
    document["audio"]["key"] = "D minor"
    del document["evidence"]["/audio/key"]


def _lose_the_record(document: Document, store: Store) -> None:
    (store.root / document["evidence"][""]["record"]).unlink()


def _tear_the_record(document: Document, store: Store) -> None:
    path = store.root / document["evidence"][""]["record"]
    path.write_bytes(path.read_bytes()[:900])
    document["evidence"][""]["sha256"] = digest_bytes(path.read_bytes(), Algorithm.SHA256).hex


def _name_another_record(document: Document, store: Store) -> None:
    (other,) = (each for each in (store.root / "records").iterdir() if "mix" in each.name)
    digest = digest_bytes(other.read_bytes(), Algorithm.SHA256).hex
    document["evidence"][""] |= {"record": f"records/{other.name}", "sha256": digest}


ZEROS = "f" * 64
FORGERIES: dict[str, tuple[str, Callable[[Document, Store], None], set[str]]] = {
    "another seed": ("cue", _set(("/seed/requested", "8"), ("/seed/effective", "8")), {"record"}),
    "another seed in the recipe too": ("cue", _set(
        ("/seed/requested", "8"), ("/seed/effective", "8"), ("/recipe/argv/2", "8")), {"record"}),
    "an argument more": ("cue", _set(("/recipe/argv", ["python", "synth.py", "7", "cue.wav", "0.2"])), {"record"}),
    "another variable": ("cue", _set(("/recipe/env/OMP_NUM_THREADS", "8")), {"record"}),
    "another Python": ("cue", _set(("/environment/packages/python", "3.12.1")), {"record"}),
    "another numpy": ("cue", _set(("/environment/packages/numpy", "1.26.4")), {"record"}),
    "another system": ("cue", _set(("/environment/os", "Linux 5.4, glibc 2.31")), {"record"}),
    "another processor": ("cue", _set(("/environment/cpu/arch", "aarch64")), {"record"}),
    "fewer features": ("cue", _set(("/environment/cpu/features", ["sse2"])), {"record"}),
    "an accelerator": ("cue", _set(("/environment/gpu", {"name": "a card", "driver": "550.54"})), {"record"}),
    "another model": ("cue", _set(("/model/name", "sdxl")), {"record"}),
    "another model file": ("cue", _set(("/model/sha256", ZEROS)), {"record"}),
    "another script": ("cue", _put_other_script, {"record"}),
    "another sound": ("cue", _put_other_sound, {"record"}),
    "a key that no run knows": ("cue", _claim_a_key, {"record"}),
    "a record that is gone": ("cue", _lose_the_record, {"record"}),
    "a record that is torn": ("cue", _tear_the_record, {"record"}),
    "the record of another run": ("cue", _name_another_record, {"record"}),
    "more threads": ("cue", _set(("/environment/threads", 8)), {"record"}),
    "a library more": ("cue", _set(("/environment/packages/pybullet", "0.0.1")), {"record"}),
    "another encoder": ("cue", _set(("/audio/export/version", "2.4.2")), {"record"}),
    "another source": ("cue", _set(("/audio/source/sha256", ZEROS)), {"record"}),
    "an argument that leads out": ("cue", _set(("/recipe/argv/3", "../cue.wav")), {"record", "recipe-reads"}),
    "a variable that leads out": ("cue", _set(("/recipe/env/FONTS", "a:../b")), {"record", "recipe-reads"}),
    "another seed of a shell": ("mix", _set(("/seed/requested", "8"), ("/seed/effective", "8")), {"record"}),
    "another argument of a shell": ("mix", _set(("/recipe/argv/1", "other.sh")), {"record"}),
    "another output of a shell": ("mix", _put_other_sound, {"record"}),
}  # fmt: skip


@pytest.mark.parametrize("name", FORGERIES)
def test_a_forged_log_does_not_pass(store: Store, name: str) -> None:
    about, forge, checks = FORGERIES[name]
    (sidecar,) = store.root.glob(f"{about}-*.detlog.json")
    document = copy.deepcopy(to_document(read_log(sidecar)))
    forge(document, store)
    del document["asset"]
    seal(store, store.root / f"{about}.wav", document, replace(HOW, revise=True))
    report = run_gate(store.root / f"{about}.wav")

    assert report.result is not AssetGateResult.PASS
    assert {row.check for row in report.wanting()} == checks


def test_a_model_without_a_file_of_its_own_is_judged_too(store: Store) -> None:
    (sidecar,) = store.root.glob("cue-*.detlog.json")
    document = to_document(read_log(sidecar))
    document["model"]["sha256"] = {"not_applicable": "a formula"}
    del document["asset"]
    seal(store, store.root / "cue.wav", document, replace(HOW, revise=True))

    assert run_gate(store.root / "cue.wav").wanting() == []


def test_a_seed_that_was_edited_by_hand_does_not_pass(store: Store) -> None:
    (sidecar,) = store.root.glob("cue-*.detlog.json")
    document = to_document(read_log(sidecar))
    document["seed"] = {"requested": "8", "effective": "8"}
    sidecar.write_bytes(canonical_document(document))

    assert {row.check for row in run_gate(store.root).wanting()} == {"record", "sealed"}


def test_a_log_that_denies_its_later_revisions_does_not_pass(store: Store) -> None:
    (sidecar,) = store.root.glob("cue-*.detlog.json")
    first = sidecar.read_bytes()
    draft = to_document(read_log(sidecar)) | {"producer": {"role": "mixer"}}
    del draft["asset"]
    seal(store, store.root / "cue.wav", draft, replace(HOW, revise=True))
    sidecar.write_bytes(first)

    assert "revisions" in {row.check for row in run_gate(store.root).wanting()}


@pytest.mark.parametrize("what", BY_CHANCE)
@pytest.mark.sample(2)
def test_a_run_that_chance_could_decide_does_not_pass(tmp_path: Path, what: str) -> None:
    own, level, link = laid(tmp_path), tmp_path / "level", tmp_path / "python3"
    level.write_bytes(b"\1\2")
    link.symlink_to(sys.executable)
    code, said = (each.replace("{level}", str(level)) for each in BY_CHANCE[what])
    is_recorded = what != "another interpreter by its path"
    script = put(own, "draw.py", f"import os, subprocess, sys, time, wave\nlevel = {code}{WRITE}")
    program = "python" if is_recorded else str(link)
    sealed(own, rendered(own, "a.wav", program, script, str(own.root / "a.wav")))
    (row,) = run_gate(own.root).wanting()

    check = "record-reads" if is_recorded else "record"
    assert (row.status.value, row.check, said in row.evidence) == ("yellow", check, True), row


def test_a_device_among_the_arguments_of_a_program_does_not_pass(tmp_path: Path) -> None:
    own = laid(tmp_path)
    script = put(own, "draw.sh", 'head -c 44 "$1" > "$3"; head -c 288000 "$2" >> "$3"\n')
    sound(own.root / "head.wav")
    out, head = str(own.root / "a.wav"), str(own.root / "head.wav")
    sealed(own, rendered(own, "a.wav", "sh", script, head, "/dev/urandom", out))
    rows = run_gate(own.root / "a.wav").wanting()

    assert ["/dev/urandom" in row.evidence for row in rows] == [True]


@pytest.mark.parametrize("output", ["a.png", "renderers/a.png"])
def test_a_script_in_a_folder_of_the_store_passes(tmp_path: Path, output: str) -> None:
    store = laid(tmp_path)
    (store.root / "renderers").mkdir()
    script = put(store, "renderers/draw.py", DRAW)
    out = str(store.root / output)
    sealed(store, rendered(store, output, "python", script, "{seed}", out, seed=7))

    assert run_gate(store.root).wanting() == []


def test_a_revision_does_not_hide_a_verdict_that_failed(store: Store) -> None:
    (sidecar,) = store.root.glob("cue-*.detlog.json")
    failed = Rerender(log=sidecar, outcome="differs", promised="bytes", reason="by hand")
    write_verdict(failed, HOW.created)
    draft = to_document(read_log(sidecar))
    for name in ("verdicts", "asset"):
        del draft[name]
    seal(store, store.root / "cue.wav", draft, replace(HOW, revise=True))

    assert [row.check for row in run_gate(store.root / "cue.wav").wanting()] == ["re-rendered"]
