"""Claims about logs that look right and are not: each way to make the gate lie, and the row that says so."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from hotstore import HOW, art_draft, laid, picture, sealed_art

from completelogs import HEX, art, audio, holder
from twice.assets.gate.facts import AssetFacts, SeenFile
from twice.assets.gate.gate import judge_facts, run_gate
from twice.assets.gate.recipe_checks import is_floating
from twice.assets.gate.run_values import RunValues
from twice.assets.log.io import canonical_document, examine, read_log, to_document
from twice.assets.store.seal import Sealed, seal, write_log


def rows(document: dict[str, Any], **seen: Any) -> dict[str, str]:
    """Return the rows that are not green of a log whose file is as it says."""
    recipe, seed = document["recipe"], document["seed"]["effective"]
    run = RunValues({"/recipe/argv": recipe["argv"][1:], "/seed/effective": seed})
    facts = AssetFacts(
        "asset", "asset.detlog.json", examined=examine(document),
        seen=SeenFile("asset", document["asset"]["file_sha256"]),
        inputs={each["path"]: each["sha256"] for each in recipe["inputs"]},
        records={"render.twice": (HEX, run)}, **seen,
    )  # fmt: skip
    found = judge_facts([facts]).rows
    return {row.check: row.status.value for row in found if row.status != "green"}


def changed(document: dict[str, Any], **over: Any) -> dict[str, Any]:
    """Copy a log with values at pointers, written with two underscores for each step."""
    document = copy.deepcopy(document)
    for name, value in over.items():
        inside, key = holder(document, "/" + name.replace("__", "/"))
        inside[key] = value
    return document


@pytest.mark.parametrize(
    ("argv", "env"),
    [
        (["python", "render.py", "--seed", "8"], {}),
        (["python", "render.py", "--seed=8"], {}),
        (["python", "render.py", "--noise-seed", "0008"], {}),
        (["render", "seed=8", "7"], {}),
        (["python", "render.py", "7"], {"RENDER_SEED": "8"}),
    ],
)
def test_a_recipe_that_names_another_seed_than_its_log_is_red(
    argv: list[str], env: dict[str, str]
) -> None:
    assert rows(changed(art(), recipe__argv=argv, recipe__env=env)) == {"seed-recipe": "red"}


@pytest.mark.parametrize(
    ("argv", "env"),
    [
        (["python", "render.py", "--seed", "7"], {}),
        (["python", "render.py", "--seed", "007"], {}),
        (["python", "render.py"], {"PYTHONHASHSEED": "0"}),
        (["python", "render.py", "3", "9"], {}),
        (["render", "-s", "7"], {}),
        (["render", "a7.scene"], {"SEED": "7"}),
        (["render", "--seed", "scene.json", "7"], {}),
        (["render", "a.scene"], {"OMP_NUM_THREADS": "1"}),
    ],
)
def test_a_recipe_with_the_seed_of_its_log_is_not_accused(
    argv: list[str], env: dict[str, str]
) -> None:
    assert rows(changed(art(), recipe__argv=argv, recipe__env=env)) == {}


def test_a_recipe_that_is_given_the_asset_is_red() -> None:
    document = art()
    given = {"path": "done.png", "sha256": document["asset"]["file_sha256"]}
    inputs = [*document["recipe"]["inputs"], given]
    assert rows(changed(document, recipe__inputs=inputs)) == {"recipe-reads": "red"}


@pytest.mark.parametrize(
    "limits",
    [
        {"max_error_255": 255},
        {"psnr_db": 0},
        {"psnr_db": -5, "max_error_255": 200},
        {"ssim": 0.999},
        {"gain_db": 6},
    ],
)
def test_a_tolerance_that_lets_everything_pass_is_red(limits: dict[str, float]) -> None:
    promise = {
        "mode": "deterministic", "grade": "tolerance", "profile": {"name": "own", "limits": limits}
    }  # fmt: skip
    assert rows(changed(art(), promise=promise)) == {"tolerance": "red"}


@pytest.mark.parametrize(
    ("document", "profile"),
    [
        (art(), {"name": "image-numeric"}),
        (art(), {"name": "own", "limits": {"psnr_db": 44.0, "worst_tile_psnr_db": 30.0}}),
        (audio(), {"name": "audio-16bit"}),
        (audio(), {"name": "own", "limits": {"null_peak_dbfs": -60}}),
    ],
)
def test_a_tolerance_that_holds_something_out_passes(
    document: dict[str, Any], profile: dict[str, Any]
) -> None:
    promise = {"mode": "deterministic", "grade": "tolerance", "profile": profile}
    assert rows(changed(document, promise=promise)) == {}


def test_a_tolerance_of_no_known_name_and_without_limits_is_red() -> None:
    for name in ("image-identity", "whatever sounds alike"):
        promise = {"mode": "deterministic", "grade": "tolerance", "profile": {"name": name}}
        assert rows(changed(art(), promise=promise)) == {"tolerance": "red"}


def verdict(**over: Any) -> dict[str, Any]:
    said = {"when": "2026-02-01T00:00:00Z", "machine": "Linux", "outcome": "reproduced"}
    return said | {"grade": "bytes", "runs": 3} | over


def test_a_verdict_below_the_promise_does_not_count_as_reproduced() -> None:
    promise = {"mode": "deterministic", "grade": "payload"}
    for grade, wanted in (("bytes", {}), ("payload", {}), ("tolerance", {"re-rendered": "yellow"})):
        said = art() | {"promise": promise, "verdicts": [verdict(grade=grade)]}
        assert rows(said) == wanted, grade
    odd = art() | {"promise": promise, "verdicts": [verdict(grade="different")]}
    assert rows(odd) == {"re-rendered": "yellow"}


def test_a_verdict_on_other_bytes_does_not_count_as_reproduced() -> None:
    own = f"sha256:{art()['asset']['file_sha256']}"
    assert rows(art() | {"verdicts": [verdict(artefacts=[own])]}) == {}
    other = verdict(artefacts=["sha256:" + "e" * 64])
    assert rows(art() | {"verdicts": [other]}) == {"re-rendered": "yellow"}


@pytest.mark.parametrize(
    "version",
    ["x.y.z", "v0", "00", "0.0.0-dev", "1.0-dev", "trunk", "tip 3", "1.2 or later", "2+", "≥1.0",
     "-1.1", "\u22122", "foo", "version", "most recent", "default", "v1 (current)", "~=2", "~1.2"],
)  # fmt: skip
def test_a_version_that_names_none_floats(version: str) -> None:
    assert is_floating(version)
    assert rows(changed(art(), model__version=version)) == {"version-pinned:/model/version": "red"}


@pytest.mark.parametrize(
    "said", ["-1.0", "\u22121", "As above", "not applicable", "IDK", "[unversioned]"]
)
def test_a_text_that_stands_for_nothing_is_no_version(said: str) -> None:
    assert rows(changed(art(), model__version=said)) == {"complete:/model/version": "red"}
    excuse = {"not_applicable": said}
    assert rows(changed(art(), art__sampler=excuse)) == {
        "complete:/art/sampler/not_applicable": "red"
    }


@pytest.mark.parametrize(
    "version",
    ["0.0.1", "v1.9.4", "2.13.0+cu121", "f2.0.1v1.10.1-previous", "2.14.0.dev20250101",
     "sha256-0000ab12", "5.0.0~rc2", "20260131", "3.7.0.10.unofficial", "1.0 beta 0"],
)  # fmt: skip
def test_a_version_that_names_one_does_not(version: str) -> None:
    assert not is_floating(version)


def edited(one: Sealed, **over: Any) -> None:
    document = to_document(read_log(one.path)) | over
    one.path.write_bytes(canonical_document(document))


def wanting(folder: Path) -> list[tuple[str, str]]:
    return [(row.status.value, row.check) for row in run_gate(folder).wanting()]


def test_a_sealed_log_that_was_edited_by_hand_does_not_pass(tmp_path: Path) -> None:
    store = laid(tmp_path)
    one = sealed_art(store)
    assert wanting(store.root) == []
    edited(one, producer={"role": "art_director"})
    assert wanting(store.root) == [("yellow", "sealed")]
    document = to_document(one.log)
    one.path.write_text(json.dumps(document, indent=4))  # Laid out anew, it says the same.
    assert wanting(store.root) == []


def test_a_revision_by_the_command_is_no_edit(tmp_path: Path) -> None:
    store = laid(tmp_path)
    one = sealed_art(store)
    write_log(one.path, next_of(one))
    assert wanting(store.root) == []


def next_of(one: Sealed) -> dict[str, Any]:
    from twice.assets.log.io import log_digest

    log = read_log(one.path)
    over = {"revision": (log.revision or 1) + 1, "supersedes": log_digest(log)}
    return {**to_document(log), **over, "producer": {"role": f"role-{log.revision}"}}


def test_a_revision_of_another_text_than_was_sealed_is_red(tmp_path: Path) -> None:
    store = laid(tmp_path)
    one = sealed_art(store)
    write_log(one.path, next_of(one))
    write_log(one.path, next_of(one))
    assert wanting(store.root) == []
    edited(one, supersedes="sha256:" + "e" * 64)
    assert wanting(store.root) == [("red", "revisions"), ("yellow", "sealed")]


def test_a_record_that_is_another_one_is_no_evidence(tmp_path: Path) -> None:
    store = laid(tmp_path)
    sealed_art(store)
    record = store.root / "records" / "run.render.json"
    record.write_bytes(record.read_bytes() + b"\n")
    assert wanting(store.root) == [("red", "record")]
    record.unlink()
    assert wanting(store.root) == [("yellow", "record")]


def test_a_record_outside_of_the_store_is_not_read(tmp_path: Path) -> None:
    store = laid(tmp_path)
    (tmp_path / "secret").write_bytes(b"another run")
    (store.root / "link").symlink_to(tmp_path / "secret")
    draft = art_draft(store)
    for name in ("../secret", str(tmp_path / "secret"), "link", "a\u0000b", "x" * 5000):
        draft["evidence"][f"/art/{len(name)}"] = {
            "level": "recorded", "record": name, "sha256": "e" * 64,
        }  # fmt: skip
    picture(store.root / "picture.png")
    seal(store, store.root / "picture.png", draft, HOW)
    assert wanting(store.root) == [("yellow", "record")] * 5


@pytest.mark.parametrize(
    ("name", "is_hosted"),
    [
        ("Eleven Labs", True), ("ElevenLabsAPI", True), ("eleven\u200blabs", True), ("DALL\u00b7E 3", True),
        ("\uff33uno", True), ("Udio v1", True), ("Leonardo.Ai", True), ("REAPER audio", False),
        ("openai whisper", False), ("runwayml/stable-diffusion-v1-5", False), ("Runway Gen-3", True), ("OpenAI", True),
        ("audio tool", False), ("consuno", False), ("sunofish", False), ("renderer", False),
    ],
)  # fmt: skip
def test_a_hosted_service_is_known_in_any_spelling_and_no_word_that_holds_its_name(
    name: str, is_hosted: bool
) -> None:
    found = rows(changed(art(), provider__name=name))
    assert found == ({"provider-ceiling": "red"} if is_hosted else {})
