"""Claims about the gate: what turns red, that nothing else does, and that no log stops it."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from hotstore import HOW, art_draft, audio_draft, laid, picture, sealed_art, sealed_audio, sound
from hypothesis import given, settings
from hypothesis import strategies as st

from completelogs import HEX, NA, art, audio, holder, leaves, marked
from twice.assets.errors import AssetMissing, PayloadRefused
from twice.assets.gate.facts import AssetFacts, SeenFile
from twice.assets.gate.gate import CHECKS, judge_facts, run_gate, verify_files
from twice.assets.gate.report import AssetGateReport, AssetGateResult
from twice.assets.gate.run_values import RunValues
from twice.assets.log.block import value_of
from twice.assets.log.io import canonical_document, examine
from twice.assets.store.seal import seal
from twice.errors import UsageError

COMPLETE = {"art": art(), "audio": audio(), "marked": marked()}


def facts_of(document: Any) -> AssetFacts:
    """Return the facts that the gate would see of a log whose file and record are as it says."""
    asset = document.get("asset", {}) if isinstance(document, dict) else {}
    digest = asset.get("file_sha256", "") if isinstance(asset, dict) else ""
    examined = examine(document)
    argv = getattr(value_of(examined.log.recipe), "argv", None) or art()["recipe"]["argv"]
    run = RunValues({"/recipe/argv": [*argv[1:]]}, is_watched=True)
    return AssetFacts(
        "asset", "asset.detlog.json", examined=examined, inputs={"render.py": HEX},
        seen=SeenFile("asset", digest if isinstance(digest, str) else ""),
        records={"render.twice": (HEX, run)},
    )  # fmt: skip


def reds(document: Any) -> list[tuple[str, str]]:
    return [
        (row.check, row.fix)
        for row in judge_facts([facts_of(document)]).rows
        if row.status == "red"
    ]


def yellows(document: Any) -> list[str]:
    return [row.check for row in judge_facts([facts_of(document)]).rows if row.status == "yellow"]


def wanting(report: AssetGateReport) -> list[tuple[str, str, str]]:
    return [(row.status.value, row.asset, row.check) for row in report.wanting()]


def changed(name: str, pointer: str, value: object) -> dict[str, Any]:
    document = copy.deepcopy(COMPLETE[name])
    inside, key = holder(document, pointer)
    inside[key] = value
    return document


@pytest.mark.parametrize("name", COMPLETE)
def test_a_complete_log_passes(name: str) -> None:
    report = judge_facts([facts_of(COMPLETE[name])])

    assert wanting(report) == []
    assert (report.result, report.exit_code) == (AssetGateResult.PASS, 0)


def without(name: str, pointer: str) -> dict[str, Any]:
    document = copy.deepcopy(COMPLETE[name])
    inside, key = holder(document, pointer)
    del inside[key]
    return document


REQUIRED = [
    (name, pointer)
    for name, document in COMPLETE.items()
    for pointer, _ in leaves(document)
    if isinstance(holder(document, pointer)[0], dict)
    and not pointer.endswith("/not_applicable")
    and examine(without(name, pointer)).problems
]


@pytest.mark.parametrize(("name", "pointer"), REQUIRED)
def test_each_required_field_that_is_taken_out_turns_its_row_red_and_no_other(
    name: str, pointer: str
) -> None:
    document = without(name, pointer)

    ((check, fix),) = reds(document)
    assert check == f"complete:{pointer}"
    assert fix.startswith(f"set {pointer} to ")
    assert judge_facts([facts_of(document)]).exit_code == 1


RED = [
    ("art", "/provider/endpoint", "hosted", "provider-ceiling"),
    ("art", "/provider/name", "ElevenLabs v2", "provider-ceiling"),
    ("art", "/model/version", "main", "version-pinned:/model/version"),
    ("art", "/model/version", ">=1.0", "version-pinned:/model/version"),
    ("art", "/environment/packages/torch", "2.*", "version-pinned:/environment/packages/torch"),
    ("art", "/art/post/0/version", "nightly-2026", "version-pinned:/art/post/0/version"),
    ("audio", "/audio/chain/0/version", NA, None),
    ("audio", "/audio/chain/1/bypass", False, "plugin-version:/audio/chain/1/version"),
    ("audio", "/audio/loudness/target_lufs", -20, "loudness-target"),
    ("audio", "/audio/loudness/true_peak_max_dbtp", -3, "true-peak"),
    ("audio", "/audio/session_sample_rate_hz", 44100, "sample-rate"),
    ("audio", "/audio/session_bit_depth", 16, "bit-depth"),
    ("art", "/asset/measured/width_px", 128, None),  # A post-process explains it.
    ("art", "/art/aspect_ratio", "16:9", "aspect"),
    ("art", "/recipe/inputs/0/sha256", "f" * 64, "stale"),
    ("art", "/evidence", {"": {"level": "declared", "who": "me", "when": "2026-01-31T09:30:00Z"}}, "evidence-strength"),
    ("art", "/evidence", {"/art": {"level": "recorded", "record": "a.twice"}}, "evidence"),
    ("art", "/evidence", {"": {"level": "recorded"}}, "evidence-source:/evidence/"),
    ("art", "/recipe/argv", ["render", "../a.scene", "7"], "recipe-reads"),
    ("art", "/evidence", {"": {"level": "imported", "file": "a"}}, "evidence-source:/evidence/"),
    ("art", "/art/steps", "unknown", "complete:/art/steps"),
    ("audio", "/audio/session_sample_rate_hz", 0, "complete:/audio/session_sample_rate_hz"),
    ("art", "/art/steps", -3, "complete:/art/steps"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "pointer", "value", "check"), RED)
def test_each_rule_has_something_that_turns_it_red(
    name: str, pointer: str, value: object, check: str | None
) -> None:
    assert [each for each, _ in reds(changed(name, pointer, value))] == ([check] if check else [])


def test_an_image_of_another_size_without_a_post_process_is_red() -> None:
    document = changed("art", "/asset/measured/width_px", 128) | {}
    document["art"]["post"] = []

    assert [check for check, _ in reds(document)] == ["size"]


def test_a_plugin_without_a_version_is_red_unless_it_is_bypassed() -> None:
    assert [check for check, _ in reds(without("audio", "/audio/chain/0/version"))] == [
        "plugin-version:/audio/chain/0/version"
    ]


def test_conditions_are_yellow() -> None:
    assert yellows(changed("art", "/recipe", NA)) == ["recipe"]
    assert yellows(changed("art", "/seed/effective", "8")) == ["seed-used"]
    assert yellows(changed("art", "/recipe/inputs/0/path", "gone.py")) == ["stale"]
    assert yellows(changed("audio", "/asset/measured", {})) == [
        "loudness-target",
        "sample-rate",
        "bit-depth",
    ]


def test_a_batch_explains_another_seed() -> None:
    document = changed("art", "/seed/effective", "10")
    document["art"]["batch_index"] = 3

    assert (reds(document), yellows(document)) == ([], [])


def test_a_reproduced_verdict_stands_in_for_a_recipe_and_a_failed_one_blocks() -> None:
    verdict = {
        "when": "2026-02-01T00:00:00Z",
        "machine": "here",
        "outcome": "reproduced",
        "grade": "payload",
    }
    document = art() | {"recipe": NA, "verdicts": [verdict]}
    assert (reds(document), yellows(document)) == ([], [])

    later = {
        "when": "2026-02-02T00:00:00Z",
        "machine": "here",
        "outcome": "differs",
        "grade": "different",
    }
    document["verdicts"].append(later)
    assert [check for check, _ in reds(document)] == ["re-rendered"]
    document["verdicts"][1]["outcome"] = "cannot-judge"
    assert reds(document) == []


def test_a_set_has_one_version_one_policy_one_loudness() -> None:
    documents = [art("art-one"), art("art-two"), audio("audio-one"), audio("audio-two")]
    documents[1]["model"]["version"] = "1.1"
    documents[1]["seed"] = NA
    documents[3]["audio"]["loudness"]["target_lufs"] = -16.3
    every = [facts_of(each) for each in documents]
    found = [(row.asset, row.check) for row in judge_facts(every).rows if row.status == "red"]
    unit = "TU-2026-01-31-IL01"

    assert found == [
        (f"{unit} (art)", "set-model:stable-diffusion-xl"),
        (f"{unit} (art)", "set-seeds:stable-diffusion-xl"),
        (f"{unit} (audio)", "set-loudness:instrument"),
    ]
    documents[1]["work_unit"] = documents[3]["work_unit"] = "TU-other"
    assert judge_facts([facts_of(each) for each in documents]).result is AssetGateResult.PASS


def test_every_row_is_of_a_check_that_is_described() -> None:
    rows = [row for document in COMPLETE.values() for row in judge_facts([facts_of(document)]).rows]
    rows += [
        row
        for name, at, value, _ in RED
        for row in judge_facts([facts_of(changed(name, at, value))]).rows
    ]

    assert {row.check.partition(":")[0] for row in rows} <= set(CHECKS)
    assert all((row.fix and row.owner) or row.status == "green" for row in rows)
    assert all(len(row.evidence) <= 400 and len(row.fix) <= 400 for row in rows)


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5)
    | st.sampled_from(["deterministic", "hosted", "0", "latest", "1/1"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=4), inner, max_size=2),
    max_leaves=4,
)  # fmt: skip
POINTERS = {name: [pointer for pointer, _ in leaves(each)] for name, each in COMPLETE.items()}


@settings(max_examples=300)
@given(st.data())
def test_no_mutation_of_a_log_stops_the_gate(data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(sorted(COMPLETE)))
    document = copy.deepcopy(COMPLETE[name])
    for pointer in data.draw(st.lists(st.sampled_from(POINTERS[name]), min_size=1, max_size=4)):
        try:
            inside, key = holder(document, pointer)
            inside[key] = data.draw(JUNK)
        except (KeyError, IndexError, TypeError, ValueError):
            continue
    report = judge_facts([facts_of(document)])

    assert report.rows
    if examine(document).problems:
        assert report.result is AssetGateResult.BLOCK
    json.dumps(report.to_json())
    report.to_markdown()


@given(st.data())
def test_any_json_at_all_is_judged(data: st.DataObject) -> None:
    assert judge_facts([facts_of(data.draw(JUNK))]).result is AssetGateResult.BLOCK


# -- real files ---------------------------------------------------------------------------------


def test_a_sealed_build_passes_measured_and_not(tmp_path: Path) -> None:
    store = laid(tmp_path)
    sealed_art(store)
    sealed_audio(store)

    for measure in (False, True):
        report = run_gate(store.root, measure=measure)
        assert wanting(report) == []
    assert verify_files(store.root).exit_code == 0
    assert run_gate(store.root / "cue.wav").exit_code == 0
    assert run_gate(store.root / "art-one.detlog.json").exit_code == 0


def test_an_asset_without_a_log_is_one_red_row(tmp_path: Path) -> None:
    store = laid(tmp_path)
    sealed_art(store)
    picture(store.root / "other.png", colour=9)

    assert wanting(run_gate(store.root)) == [("red", "other.png", "log-present")]
    assert wanting(run_gate(store.root / "other.png")) == [("red", "other.png", "log-present")]


def test_a_log_without_an_asset_is_one_red_row(tmp_path: Path) -> None:
    store = laid(tmp_path)
    sealed_art(store)
    (store.root / "picture.png").unlink()

    assert wanting(run_gate(store.root)) == [("red", "picture.png", "asset-present")]


@pytest.mark.parametrize("keep", [0, 1, 500])
def test_a_torn_sidecar_is_one_red_row(tmp_path: Path, keep: int) -> None:
    store = laid(tmp_path)
    path = sealed_art(store).path
    path.write_bytes(path.read_bytes()[:keep])

    assert wanting(run_gate(store.root)) == [("red", "art-one", "log-readable")]


def test_a_log_of_another_format_is_one_red_row(tmp_path: Path) -> None:
    store = laid(tmp_path)
    path = sealed_art(store).path
    path.write_bytes(path.read_bytes().replace(b"determinism-log/1", b"determinism-log/9"))
    (row,) = run_gate(store.root).wanting()

    assert (row.status, row.check) == ("red", "log-readable")
    assert "determinism-log/9" in row.evidence


def test_another_payload_is_one_red_row_and_another_tag_a_yellow_one(tmp_path: Path) -> None:
    store = laid(tmp_path)
    sealed_art(store)
    picture(store.root / "picture.png", colour=8)
    assert wanting(run_gate(store.root)) == [("red", "picture.png", "hash")]

    from PIL import Image

    Image.new("RGB", (64, 32), (7, 20, 30)).save(store.root / "picture.png", compress_level=0)
    assert wanting(run_gate(store.root)) == [("yellow", "picture.png", "hash")]
    assert run_gate(store.root).exit_code == 2


@pytest.mark.parametrize("level", [6, 0])
def test_a_renamed_asset_is_found_by_its_bytes_or_its_payload(tmp_path: Path, level: int) -> None:
    store = laid(tmp_path)
    sealed_art(store)
    (store.root / "picture.png").unlink()

    from PIL import Image

    Image.new("RGB", (64, 32), (7, 20, 30)).save(store.root / "plate__v1.png", compress_level=level)
    (row,) = run_gate(store.root).wanting()
    assert (row.status, row.check) == ("yellow", "hash")
    assert "plate__v1.png" in row.evidence


def test_two_logs_for_one_payload_are_red_each(tmp_path: Path) -> None:
    store = laid(tmp_path)
    path = sealed_art(store).path
    document = json.loads(path.read_bytes()) | {"log_id": "art-two"}
    (store.root / "art-two.detlog.json").write_bytes(canonical_document(document))

    assert wanting(run_gate(store.root)) == [("red", "picture.png", "one-log")] * 2


def test_a_changed_input_is_stale(tmp_path: Path) -> None:
    store = laid(tmp_path)
    sealed_art(store)
    (store.root / "render.py").write_bytes(b"print('other')\n")

    assert wanting(run_gate(store.root)) == [("red", "picture.png", "stale")]


def test_a_lie_about_what_was_measured_is_found_when_it_is_measured_again(tmp_path: Path) -> None:
    store = laid(tmp_path)
    path = sealed_audio(store).path
    document = json.loads(path.read_bytes())
    document["asset"]["measured"]["loudness_lufs"] = -16.2
    path.write_bytes(canonical_document(document))

    assert wanting(run_gate(store.root)) == [("yellow", "cue.wav", "sealed")]
    assert wanting(run_gate(store.root, measure=True)) == [
        ("red", "cue.wav", "facts"),
        ("yellow", "cue.wav", "sealed"),
    ]


def test_a_delivery_that_misses_its_target_is_red(tmp_path: Path) -> None:
    store = laid(tmp_path)
    sound(store.root / "quiet.wav", level=0.1)
    seal(store, store.root / "quiet.wav", audio_draft(store), HOW)

    assert wanting(run_gate(store.root)) == [("red", "quiet.wav", "loudness-target")]


def test_inputs_and_hidden_folders_are_no_assets(tmp_path: Path) -> None:
    store = laid(tmp_path)
    (store.root / ".cache").mkdir()
    picture(store.root / ".cache" / "thumb.png")
    picture(store.root / "reference.png", colour=3)
    draft = art_draft(store)
    from hotstore import sha256

    digest = sha256((store.root / "reference.png").read_bytes())
    draft["recipe"]["inputs"].append({"path": "reference.png", "sha256": digest})
    picture(store.root / "picture.png")
    seal(store, store.root / "picture.png", draft, HOW)

    assert wanting(run_gate(store.root)) == []


def test_names_that_no_disk_takes_and_pipes_do_not_stop_the_gate(tmp_path: Path) -> None:
    import os

    store = laid(tmp_path)
    path = sealed_art(store).path
    document = json.loads(path.read_bytes())
    document["asset"]["file"] = "\u4e16" * 250
    document["recipe"]["inputs"].append({"path": "pipe", "sha256": "f" * 64})
    path.write_bytes(canonical_document(document))
    os.mkfifo(store.root / "pipe")
    os.mkfifo(store.root / "pipe.png")
    os.mkfifo(store.root / "pipe.detlog.json")
    (store.root / "loop").symlink_to(store.root)

    assert [(status, check) for status, _, check in wanting(run_gate(store.root))] == [
        ("yellow", "hash"), ("yellow", "sealed"), ("yellow", "stale"),
    ]  # fmt: skip


def test_nothing_to_judge_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="neither"):
        run_gate(tmp_path)
    with pytest.raises(AssetMissing):
        run_gate(tmp_path / "gone")


def test_equal_facts_give_equal_bytes_and_the_first_line_answers(tmp_path: Path) -> None:
    store = laid(tmp_path)
    sealed_art(store)
    picture(store.root / "a|b.png", colour=1)
    first, second = run_gate(store.root), run_gate(store.root)

    assert json.dumps(first.to_json()) == json.dumps(second.to_json())
    text = first.to_markdown()
    assert text.startswith("# Assets: block\n")
    assert "a\\|b.png" in text


def test_figures_that_are_believed_are_said_to_be(tmp_path: Path) -> None:
    store = laid(tmp_path)
    sealed_art(store)
    said = {"level": "declared", "who": "a maker", "when": "2026-01-31T09:30:00Z"}

    (row,) = (row for row in run_gate(store.root).rows if row.check == "facts")
    assert (row.status, "not measured now" in row.evidence) == ("green", True)

    (path,) = store.root.glob("*.detlog.json")
    document = json.loads(path.read_text())
    document["evidence"]["/asset/measured"] = said
    path.write_text(json.dumps(document))
    (row,) = (row for row in run_gate(store.root).rows if row.check == "facts")
    assert (row.status, "declared" in row.evidence) == ("yellow", True)


def test_a_size_that_was_imported_carries_no_seed_that_was_typed_in(tmp_path: Path) -> None:
    store = laid(tmp_path)
    sealed_art(store)
    (path,) = store.root.glob("*.detlog.json")
    document = json.loads(path.read_text())
    asset = document["evidence"]["/asset"]
    declared = {"level": "declared", "who": "a maker", "when": "2026-01-31T09:30:00Z"}
    document["evidence"] = {"": declared, "/asset": asset, "/art/width_px": asset}
    path.write_text(json.dumps(document))

    (row,) = (row for row in run_gate(store.root).rows if row.check == "evidence-strength")

    assert (row.status, "seed, model and recipe" in row.evidence) == ("red", True)


@pytest.mark.parametrize(
    ("frames", "level", "status"),
    [(48000, 0.0, "red"), (0, 0.0, "red"), (4800, 0.0, "red"), (4800, 0.1, "yellow")],
    ids=["silent", "empty", "short and silent", "short"],
)
def test_a_sound_without_loudness_does_not_meet_its_target(
    tmp_path: Path, frames: int, level: float, status: str
) -> None:
    import numpy as np
    import soundfile

    store = laid(tmp_path)
    wave = np.full((frames, 2), level)
    soundfile.write(store.root / "cue.wav", wave, 48000, subtype="PCM_24")
    draft = audio_draft(store)
    seal(store, store.root / "cue.wav", draft, HOW)
    assert wanting(run_gate(store.root)) == [(status, "cue.wav", "loudness-target")]


@pytest.mark.parametrize("odd", [float("nan"), float("inf")])
def test_samples_that_are_no_numbers_are_not_sealed(tmp_path: Path, odd: float) -> None:
    import numpy as np
    import soundfile

    store = laid(tmp_path)
    wave = np.full((48000, 2), 0.1)
    wave[77] = odd
    soundfile.write(store.root / "cue.wav", wave, 48000, subtype="FLOAT")
    with pytest.raises(PayloadRefused, match="NaN or infinite"):
        seal(store, store.root / "cue.wav", audio_draft(store), HOW)
    assert list(store.root.glob("*.detlog.json")) == []


def test_a_log_of_a_retired_payload_method_is_read_and_needs_a_new_seal() -> None:
    old = changed(
        "audio", "/asset/payload", {"method": "packets/1", "digest": f"sha256:{64 * 'a'}"}
    )

    assert "hash" not in [check for check, _ in reds(old)]
    assert yellows(old) == ["hash"]
    (row,) = [row for row in judge_facts([facts_of(old)]).rows if row.check == "hash"]
    assert "packets/1 is no longer computed" in row.evidence
    assert "seal it again" in row.fix
