"""Claims about the gate on real stores: each way in which logs, files, records and index fall apart has its row."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile
from hotstore import (
    HOW,
    art_draft,
    audio_draft,
    laid,
    picture,
    sealed_art,
    sealed_audio,
    sha256,
    sound,
)
from PIL import Image, PngImagePlugin

from twice.assets.errors import AssetMissing, PayloadRefused, StoreRefused
from twice.assets.gate.gate import run_gate, verify_files
from twice.assets.log.io import canonical_document, log_digest, read_log, to_document
from twice.assets.store.checkpoint import checkpoint_path
from twice.assets.store.package import package
from twice.assets.store.seal import Sealed, seal, write_log
from twice.assets.store.store import Store
from twice.errors import UsageError

Document = dict[str, Any]


def wanting(path: Path, *, measure: bool = False) -> list[str]:
    rows = run_gate(path, measure=measure).wanting()
    return [f"{row.status} {row.asset} {row.check}" for row in rows]


def edited(one: Sealed, change: Callable[[Document], object]) -> Document:
    """Edit a sealed log by hand."""
    document: Document = json.loads(one.path.read_bytes())
    change(document)
    one.path.write_bytes(canonical_document(document))
    return document


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return laid(tmp_path)


@pytest.fixture
def sealed(store: Store) -> Sealed:
    """Seal one picture."""
    return sealed_art(store)


def test_a_sealed_build_passes_measured_and_not(store: Store, sealed: Sealed) -> None:
    sealed_audio(store)

    assert wanting(store.root) == wanting(store.root, measure=True) == []
    assert verify_files(store.root).exit_code == 0
    assert wanting(store.root / "cue.wav") == wanting(sealed.path) == []


def _retag(store: Store, name: str = "picture.png", level: int = 0) -> None:
    (store.root / "picture.png").unlink()
    image = Image.new("RGB", (64, 32), (7, 20, 30))
    image.save(store.root / name, compress_level=level)


def _copy_log(store: Store) -> None:
    document = json.loads((store.root / "art-one.detlog.json").read_bytes()) | {"log_id": "art-two"}
    (store.root / "art-two.detlog.json").write_bytes(canonical_document(document))


def _write_another_format(store: Store) -> None:
    path = store.root / "art-one.detlog.json"
    path.write_bytes(path.read_bytes().replace(b"determinism-log/1", b"determinism-log/9"))


def _edit_record(store: Store) -> None:
    record = store.root / "records" / "run.render.json"
    record.write_bytes(record.read_bytes() + b"\n")


BROKEN: dict[str, tuple[Callable[[Store], object], list[str]]] = {
    "another asset": (lambda store: picture(store.root / "a.png", colour=9), ["red a.png log-present"]),
    "no asset": (lambda store: (store.root / "picture.png").unlink(), ["red picture.png asset-present"]),
    "an empty log": (lambda store: (store.root / "art-one.detlog.json").write_bytes(b""), ["red art-one log-readable"]),
    "another format": (_write_another_format, ["red art-one log-readable"]),
    "another payload": (lambda store: picture(store.root / "picture.png", colour=8), ["red picture.png hash"]),
    "another tag": (_retag, ["yellow picture.png hash"]),
    "another name": (lambda store: _retag(store, "b.png", 6), ["yellow picture.png hash"]),
    "another name and tag": (lambda store: _retag(store, "b.png"), ["yellow picture.png hash"]),
    "a second log": (_copy_log, ["red picture.png one-log"] * 2),
    "another input": (lambda store: (store.root / "render.py").write_bytes(b"2"), ["red picture.png stale"]),
    "another record": (_edit_record, ["red picture.png record"]),
    "no record": (lambda store: (store.root / "records" / "run.render.json").unlink(), ["yellow picture.png record"]),
}  # fmt: skip


def test_a_fix_names_files_as_they_are_typed_where_the_gate_was(
    store: Store, sealed: Sealed, monkeypatch: pytest.MonkeyPatch
) -> None:
    picture(store.root / "a b.png", colour=9)
    edited(sealed, lambda log: log["producer"].update(role="art_director"))
    monkeypatch.chdir(store.root.parent)
    missing, unsealed = run_gate(Path("hot")).wanting()

    assert missing.fix == "log it: twice asset seal 'hot/a b.png' --log DRAFT"
    named = "twice asset seal hot/picture.png --log hot/art-one.detlog.json --revise"
    assert named in unsealed.fix


@pytest.mark.parametrize("name", BROKEN)
@pytest.mark.usefixtures("sealed")
def test_what_falls_apart_has_one_row(store: Store, name: str) -> None:
    harm, expected = BROKEN[name]
    harm(store)

    assert wanting(store.root) == expected


def test_a_lie_about_what_was_measured_is_found_when_it_is_measured_again(store: Store) -> None:
    one = sealed_audio(store)
    edited(one, lambda log: log["asset"]["measured"].update(loudness_lufs=-16.2))

    assert wanting(store.root) == ["yellow cue.wav sealed"]
    assert wanting(store.root, measure=True) == ["red cue.wav facts", "yellow cue.wav sealed"]


def test_a_sealed_log_that_was_edited_by_hand_does_not_pass(store: Store, sealed: Sealed) -> None:
    edited(sealed, lambda log: log["producer"].update(role="art_director"))
    assert wanting(store.root) == ["yellow picture.png sealed"]
    # Laid out anew, it says the same.
    sealed.path.write_text(json.dumps(to_document(sealed.log), indent=4))
    assert wanting(store.root) == []


def test_a_revision_of_another_text_than_was_sealed_is_red(store: Store, sealed: Sealed) -> None:
    for number in (2, 3):
        log = read_log(sealed.path)
        over = {
            "revision": number,
            "supersedes": log_digest(log),
            "producer": {"role": f"{number}"},
        }
        write_log(sealed.path, to_document(log) | over)
        assert wanting(store.root) == []
    edited(sealed, lambda log: log.update(supersedes="sha256:" + "e" * 64))
    assert wanting(store.root) == ["red picture.png revisions", "yellow picture.png sealed"]


CONTAINERS: dict[str, tuple[Callable[[Document], object], str]] = {
    "another size": (lambda asset: asset.update(size_bytes=9), "red"),
    "another format": (lambda asset: asset.update(media_type="audio/wav"), "yellow"),
    "the method of sounds": (
        lambda asset: asset["payload"].update(method="packets/2"),
        "yellow",
    ),
    "the method of other files": (
        lambda asset: asset["payload"].update(method="bytes/1"),
        "yellow",
    ),
}


@pytest.mark.parametrize("name", CONTAINERS)
def test_what_a_log_says_of_the_file_as_such_is_looked_at(
    store: Store, sealed: Sealed, name: str
) -> None:
    change, status = CONTAINERS[name]
    edited(sealed, lambda log: change(log["asset"]))
    rows = wanting(store.root)
    assert sorted(rows) == sorted([f"{status} picture.png container", "yellow picture.png sealed"])


def test_a_payload_that_was_made_up_is_found_when_it_is_measured_again(
    store: Store, sealed: Sealed
) -> None:
    edited(sealed, lambda log: log["asset"]["payload"].update(digest="sha256:" + "e" * 64))
    rows = ["red picture.png hash", "yellow picture.png sealed"]
    assert wanting(store.root, measure=True) == rows
    assert verify_files(store.root).exit_code == 1


@pytest.mark.parametrize("write", [picture, sound], ids=["a PNG", "a WAV"])
def test_the_id_that_a_file_carries_is_that_of_its_log(
    store: Store, write: Callable[[Path], None]
) -> None:
    draft = art_draft(store) if write is picture else audio_draft(store)
    path = store.root / "asset"
    write(path.with_suffix(".png" if write is picture else ".wav"))
    (path,) = store.root.glob("asset.*")
    one = seal(store, path, draft, replace(HOW, embed="id"))
    assert wanting(store.root) == []
    one.path.unlink()
    other = canonical_document(to_document(one.log) | {"log_id": "another"})
    (store.root / "another.detlog.json").write_bytes(other)
    rows = [f"red {path.name} container", f"yellow {path.name} sealed"]
    assert wanting(store.root) == rows


def test_every_checkpoint_of_a_store_is_asked(store: Store, sealed: Sealed) -> None:
    unit = str(sealed.log.work_unit)
    package(store, unit, {})
    at = checkpoint_path(store, unit)
    at.rename(at.with_name("another.checkpoint.json"))
    draft = to_document(sealed.log) | {"producer": {"role": "art_director"}}
    asset = store.root / "picture.png"
    seal(store, asset, draft, replace(HOW, revise=True))
    assert wanting(store.root) == ["red picture.png checkpoint"]
    seal(store, asset, draft | {"work_unit": "TU-other"}, replace(HOW, revise=True))
    assert wanting(store.root) == ["yellow picture.png checkpoint"]

    for path in (asset, sealed.path):
        path.unlink()
    picture(asset, colour=9)
    assert wanting(store.root) == ["red art-one log-readable", "red picture.png log-present"]


@pytest.mark.parametrize(
    ("steps", "source", "expected"),
    [
        (24, "picture.png", []),
        (60, "picture.png", ["red picture.png imported"]),
        (24, "other.txt", []),
        (25, "other.txt", ["red picture.png imported"]),
        (99, "gone.txt", []),
    ],
)
def test_an_imported_value_is_what_its_file_and_the_asset_say(
    store: Store, steps: int, source: str, expected: list[str]
) -> None:
    note = PngImagePlugin.PngInfo()
    note.add_text("parameters", "a quay\nSteps: 24, Sampler: Euler a, CFG scale: 7, Seed: 42")
    Image.new("RGB", (64, 32), (7, 20, 30)).save(store.root / "picture.png", pnginfo=note)
    said = f"a quay\nSteps: {steps}, Sampler: Euler a, CFG scale: 7, Seed: 42"
    (store.root / "other.txt").write_text(said)
    path = store.root / source
    digest = sha256(path.read_bytes()) if path.exists() else "e" * 64
    draft = art_draft(store)
    draft["art"]["steps"] = steps
    imported = {"level": "imported", "file": source, "sha256": digest, "chunk": "parameters"}
    draft["evidence"]["/art/steps"] = imported
    seal(store, store.root / "picture.png", draft, HOW)

    assert wanting(store.root) == expected


def test_a_record_outside_of_the_store_is_not_read(store: Store, tmp_path: Path) -> None:
    (tmp_path / "secret").write_bytes(b"another run")
    (store.root / "link").symlink_to(tmp_path / "secret")
    draft = art_draft(store)
    for name in ("../secret", str(tmp_path / "secret"), "link", "a\u0000b", "x" * 5000):
        evidence = {"level": "recorded", "record": name, "sha256": "e" * 64}
        draft["evidence"][f"/art/{len(name)}"] = evidence
    picture(store.root / "picture.png")
    seal(store, store.root / "picture.png", draft, HOW)

    assert wanting(store.root) == ["yellow picture.png record"] * 5


def test_inputs_and_hidden_folders_are_no_assets(store: Store) -> None:
    (store.root / ".cache").mkdir()
    for path, colour in ((".cache/thumb.png", 7), ("reference.png", 3), ("picture.png", 7)):
        picture(store.root / path, colour=colour)
    draft = art_draft(store)
    digest = sha256((store.root / "reference.png").read_bytes())
    draft["recipe"]["inputs"].append({"path": "reference.png", "sha256": digest})
    seal(store, store.root / "picture.png", draft, HOW)

    assert wanting(store.root) == []


def test_names_that_no_disk_takes_and_pipes_do_not_stop_the_gate(
    store: Store, sealed: Sealed
) -> None:
    def change(log: Document) -> None:
        log["asset"]["file"] = "\u4e16" * 250
        log["recipe"]["inputs"].append({"path": "pipe", "sha256": "f" * 64})

    edited(sealed, change)
    for name in ("pipe", "pipe.png", "pipe.detlog.json"):
        os.mkfifo(store.root / name)
    (store.root / "loop").symlink_to(store.root)

    checks = [each.rpartition(" ")[2] for each in wanting(store.root)]
    assert checks == ["hash", "sealed", "stale"]


@pytest.mark.usefixtures("sealed")
def test_a_store_below_the_folder_that_is_judged_is_asked(store: Store) -> None:
    other = store.root.parent / "second"
    other.mkdir()
    sealed_audio(laid(other))
    assert wanting(store.root.parent) == []
    for said, match in (("public", "public tree"), ("publc", "means nothing here")):
        text = f'format = "twice.asset-store/1"\n{said} = [".."]\n'
        (store.root / "assets.toml").write_text(text)
        with pytest.raises(StoreRefused, match=match):
            run_gate(store.root.parent)


def test_nothing_to_judge_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="neither"):
        run_gate(tmp_path)
    with pytest.raises(AssetMissing):
        run_gate(tmp_path / "gone")


@pytest.mark.usefixtures("sealed")
def test_equal_facts_give_equal_bytes_and_the_first_line_answers(store: Store) -> None:
    picture(store.root / "a|b.png", colour=1)
    first, second = run_gate(store.root), run_gate(store.root)

    assert json.dumps(first.to_json()) == json.dumps(second.to_json())
    text = first.to_markdown()
    assert text.startswith("# Assets: block\n")
    assert "a\\|b.png" in text


@pytest.mark.parametrize(
    ("frames", "level", "status"),
    [(48000, 0.0, "red"), (0, 0.0, "red"), (4800, 0.0, "red"), (4800, 0.1, "yellow"), (48000, 0.1, "red")],
    ids=["silent", "empty", "short and silent", "short", "too loud"],
)  # fmt: skip
def test_a_sound_without_its_loudness_does_not_meet_its_target(
    store: Store, frames: int, level: float, status: str
) -> None:
    wave = np.resize([level, -level], (frames, 2)) if frames else np.zeros((0, 2))
    soundfile.write(store.root / "cue.wav", wave, 48000, subtype="PCM_24")
    seal(store, store.root / "cue.wav", audio_draft(store), HOW)

    assert wanting(store.root) == [f"{status} cue.wav loudness-target"]


@pytest.mark.parametrize("odd", [float("nan"), float("inf")])
def test_samples_that_are_no_numbers_are_not_sealed(store: Store, odd: float) -> None:
    wave = np.full((48000, 2), 0.1)
    wave[77] = odd
    soundfile.write(store.root / "cue.wav", wave, 48000, subtype="FLOAT")
    with pytest.raises(PayloadRefused, match="NaN or infinite"):
        seal(store, store.root / "cue.wav", audio_draft(store), HOW)
    assert list(store.root.glob("*.detlog.json")) == []
