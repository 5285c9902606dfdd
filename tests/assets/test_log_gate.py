"""Claims about the gate's checks, by facts alone: what turns red, that nothing else does, and that no log stops them."""

from __future__ import annotations

import copy
import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from completelogs import HEX, NA, OTHER_HEX, art, audio, holder, leaves, marked
from twice.assets.gate.facts import AssetFacts, SeenFile
from twice.assets.gate.gate import judge_facts
from twice.assets.gate.recipe_checks import is_floating
from twice.assets.gate.report import AssetGateReport, AssetGateResult
from twice.assets.gate.run_values import RunValues
from twice.assets.log.io import examine

COMPLETE = {"art": art(), "audio": audio(), "marked": marked()}
GUIDE = Path(__file__).parents[2] / "docs" / "guides" / "assets.md"


def judged(document: Any, run: RunValues | None = None, **seen_in_store: Any) -> AssetGateReport:
    """Judge a log whose file and record are as it says, or a run is as given."""
    examined = examine(document)
    log = examined.log
    seed, argv = log.get("/seed/effective") or "7", log.get("/recipe/argv") or ("render",)
    run = run or RunValues({"/recipe/argv": [*argv], "/seed/effective": seed})
    seen = SeenFile("asset", log.get("/asset/file_sha256") or "")
    records, inputs = {"render.twice": (HEX, run)}, {"render.py": HEX, "done.png": OTHER_HEX}
    facts = AssetFacts(
        "asset", "asset.detlog.json", examined=examined, inputs=inputs, seen=seen, records=records,
        **seen_in_store,
    )  # fmt: skip
    return judge_facts([facts])


def wanting(report: AssetGateReport) -> list[str]:
    return [f"{row.status} {row.check}" for row in report.wanting()]


def changed(name: str, changes: dict[str, Any]) -> dict[str, Any]:
    """Copy a complete log with other values at pointers."""
    document = copy.deepcopy(COMPLETE[name])
    for pointer, value in changes.items():
        inside, key = holder(document, pointer)
        inside[key] = value
    return document


def without(name: str, pointer: str) -> dict[str, Any]:
    document = copy.deepcopy(COMPLETE[name])
    inside, key = holder(document, pointer)
    del inside[key]
    return document


def test_each_required_field_that_is_taken_out_turns_its_row_red_and_no_other() -> None:
    asked = 0
    for name, document in COMPLETE.items():
        for pointer, _ in leaves(document):
            one = without(name, pointer)
            is_item = isinstance(holder(document, pointer)[0], list)
            if is_item or pointer.endswith("/not_applicable") or not examine(one).problems:
                continue
            report = judged(one)
            (row,) = (each for each in report.rows if each.status == "red")
            assert (row.check, report.exit_code) == (f"complete:{pointer}", 1)
            assert row.fix.startswith(f"set {pointer} to ")
            asked += 1
    assert asked > 150


DECLARED = {"level": "declared", "who": "me", "when": "2026-01-31T09:30:00Z"}
RECORDED = {"level": "recorded", "record": "render.twice"}
IMPORTED = {"level": "imported", "file": "a.png", "sha256": HEX, "chunk": "tEXt parameters"}
LORA = {"kind": "lora", "name": "ink", "sha256": HEX}
PAYLOAD = {"method": "packets/1", "digest": f"sha256:{64 * 'a'}"}
GIVEN = [{"path": "render.py", "sha256": HEX}, {"path": "done.png", "sha256": OTHER_HEX}]


def verdict(outcome: str = "reproduced", day: int = 1, **over: Any) -> dict[str, Any]:
    return {"when": f"2026-02-0{day}T00:00:00Z", "machine": "Linux", "outcome": outcome} | over


def tolerant(name: str = "own", **limits: float) -> dict[str, Any]:
    profile = {"name": name, **({"limits": limits} if limits else {})}
    return {"/promise": {"mode": "deterministic", "grade": "tolerance", "profile": profile}}


def recipe(*argv: str, **env: str) -> dict[str, Any]:
    return {"/recipe/argv": [*argv], "/recipe/env": env}


TWO_FAILED = [verdict(), verdict("differs", 2, grade="different")]
TWO_UNJUDGED = [verdict(), verdict("cannot-judge", 2)]
AGAIN = {"/verdicts": [verdict(grade="tolerance")]}
CASES: list[tuple[str, dict[str, Any], str]] = [
    *((name, {}, "") for name in COMPLETE),
    ("art", {"/provider/endpoint": "hosted"}, "red provider-ceiling"),
    ("art", {"/art/post/0/version": "nightly-2026"}, "red version-pinned:/art/post/0/version"),
    ("art", {"/environment/packages/torch": "2.*"}, "red version-pinned:/environment/packages/torch"),
    ("art", {"/model/adapters": [LORA | {"version": "main"}]}, "red version-pinned:/model/adapters/0/version"),
    ("audio", {"/audio/chain/0/version": NA}, ""),
    ("audio", {"/audio/chain/1/bypass": False}, "red plugin-version:/audio/chain/1/version"),
    ("audio", {"/audio/loudness/target_lufs": -20}, "red loudness-target"),
    ("audio", {"/audio/loudness/true_peak_max_dbtp": -3}, "red true-peak"),
    ("audio", {"/audio/session_sample_rate_hz": 44100}, "red sample-rate"),
    ("audio", {"/audio/session_sample_rate_hz": 0}, "red complete:/audio/session_sample_rate_hz"),
    ("audio", {"/audio/session_bit_depth": 16}, "red bit-depth"),
    ("audio", {"/asset/measured": {}}, "yellow loudness-target, yellow sample-rate, yellow bit-depth"),
    ("audio", {"/asset/payload": PAYLOAD}, "yellow hash"),
    ("art", {"/asset/measured/width_px": 128}, ""),  # A post-process explains it.
    ("art", {"/asset/measured/width_px": 128, "/art/post": []}, "red size"),
    ("art", {"/asset/measured": {}}, "yellow size"),
    ("art", {"/art/aspect_ratio": "16:9"}, "red aspect"),
    ("art", {"/art/steps": "unknown"}, "red complete:/art/steps"),
    ("art", {"/art/steps": -3}, "red complete:/art/steps"),
    ("art", {"/model/version": "As above"}, "red complete:/model/version"),
    ("art", {"/art/sampler": {"not_applicable": "IDK"}}, "red complete:/art/sampler/not_applicable"),
    # Evidence.
    ("art", {"/evidence": {"": DECLARED, "/asset": IMPORTED}}, "red evidence-strength"),
    ("art", {"/evidence": {"": DECLARED, "/asset": IMPORTED, "/art/width_px": IMPORTED}}, "red evidence-strength"),
    ("art", {"/evidence": {"/art": RECORDED | {"record": "a.twice"}}}, "red evidence, yellow record"),
    ("art", {"/evidence": {"": {"level": "recorded"}}}, "red evidence-source:/evidence/"),
    ("art", {"/evidence": {"": {"level": "imported", "file": "a"}}}, "red evidence-source:/evidence/"),
    ("art", {"/evidence/": RECORDED | {"sha256": OTHER_HEX}}, "red record"),
    ("art", {"/evidence/~1art": RECORDED}, "red record"),
    ("art", {"/evidence/~1asset~1measured": DECLARED}, "yellow facts"),
    # Recipes and their seeds.
    ("art", {"/recipe": NA}, "yellow recipe"),
    ("art", {"/recipe": NA, "/verdicts": [verdict()]}, ""),
    ("art", {"/recipe/inputs/0/sha256": "f" * 64}, "red stale"),
    ("art", {"/recipe/inputs/0/path": "gone.py"}, "yellow stale"),
    ("art", {"/recipe/inputs": GIVEN}, "red recipe-reads"),
    ("art", recipe("render", "../a.scene", "7"), "red recipe-reads"),
    ("art", {"/seed/effective": "8"}, "yellow seed-used"),
    ("art", {"/seed/effective": "10", "/art/batch_index": 3}, ""),  # Its place in the batch.
    ("art", recipe("python", "render.py", "--seed", "8"), "red seed-recipe"),
    ("art", recipe("python", "render.py", "--seed=8"), "red seed-recipe"),
    ("art", recipe("python", "render.py", "--noise-seed", "0008"), "red seed-recipe"),
    ("art", recipe("render", "seed=8", "7"), "red seed-recipe"),
    ("art", recipe("python", "render.py", "7", RENDER_SEED="8"), "red seed-recipe"),
    ("art", recipe("python", "render.py", "--seed", "007"), ""),
    ("art", recipe("python", "render.py", PYTHONHASHSEED="0"), ""),
    ("art", recipe("python", "render.py", "3", "9"), ""),
    ("art", recipe("render", "-s", "7"), ""),
    ("art", recipe("render", "a7.scene", SEED="7"), ""),
    ("art", recipe("render", "--seed", "scene.json", "7"), ""),
    # Tolerances and verdicts.
    ("art", tolerant(max_error_255=255), "red tolerance"),
    ("art", tolerant(psnr_db=-5, max_error_255=200), "red tolerance"),
    ("art", tolerant(ssim=0.999), "red tolerance"),
    ("art", tolerant("image-identity"), "red tolerance"),
    ("art", tolerant("image-numeric"), ""),
    ("art", tolerant(psnr_db=44.0, worst_tile_psnr_db=30.0), ""),
    ("audio", tolerant("audio-16bit"), ""),
    ("audio", tolerant(null_peak_dbfs=-60), ""),
    ("art", {"/verdicts": TWO_FAILED}, "red re-rendered"),
    ("art", {"/verdicts": TWO_UNJUDGED}, ""),
    ("art", {"/verdicts": [verdict(grade="bytes")]}, ""),
    ("art", {"/verdicts": [verdict(grade="payload")]}, ""),
    ("art", AGAIN, "yellow re-rendered"),
    ("art", AGAIN | tolerant("image-numeric"), ""),
    ("art", {"/verdicts": [verdict(grade="different")]}, "yellow re-rendered"),
    ("art", {"/verdicts": [verdict(grade="bytes", artefacts=[f"sha256:{OTHER_HEX}"])]}, ""),
    ("art", {"/verdicts": [verdict(grade="bytes", artefacts=[f"sha256:{HEX}"])]}, "yellow re-rendered"),
    ("art", {"/verdicts": [verdict(grade="bytes", artefacts=[f"sha256:{each}" for each in (HEX, OTHER_HEX)])]}, "yellow re-rendered"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "changes", "expected"), CASES, ids=lambda each: str(each)[:60])
def test_each_check_has_something_that_turns_it_and_nothing_else(
    name: str, changes: dict[str, Any], expected: str
) -> None:
    assert ", ".join(wanting(judged(changed(name, changes)))) == expected


def test_a_plugin_without_a_version_is_red_unless_it_is_bypassed() -> None:
    named = "/audio/chain/0/version"  # The second plugin is bypassed, and has none.

    assert wanting(judged(without("audio", named))) == [f"red plugin-version:{named}"]


ARGV = ["render", "a.scene", "--seed", "7", "-"]
OLD = {"/verdicts": [verdict() | {"when": "2025-02-01T00:00:00Z"}]}
BLIND = ["./brush", "render.py", "7"]
NICE = ["nice", "-n", "5", "bin/python3.12", "noisy", "7"]
REFUTED: list[tuple[dict[str, Any], RunValues | None, dict[str, Any], str]] = [
    ({"/evidence/~1recipe": DECLARED}, RunValues({"/recipe/argv": [*ARGV, "8"]}), {}, "red record"),
    ({"/evidence/~1recipe": DECLARED}, RunValues({"/recipe/env": {}}), {}, "red record"),
    ({"/evidence/~1model": DECLARED}, RunValues({"/model/name": "draw.py"}), {}, ""),
    ({"/evidence/~1model": RECORDED}, RunValues({"/model/name": "draw.py"}), {}, "red record"),
    ({}, RunValues({"/environment/locale": "de_DE"}), {}, "red record"),
    ({}, RunValues({"/recipe/inputs": {}}, read={"palette.json": "blake3:0"}), {}, "red record"),
    ({}, RunValues({"/recipe/inputs": {}}, read={"render.py": "blake3:0"}), {}, ""),
    ({"/seed": NA}, RunValues({"/seed/effective": "7"}), {}, "red record"),
    ({"/seed": NA}, RunValues({"/seed/effective": "0"}), {}, ""),
    ({}, RunValues(trouble="it ends before its run does"), {}, "red record"),
    ({}, RunValues(reads={"clock.wall": 1}), {}, "yellow record-reads"),
    ({"/verdicts": [verdict()]}, RunValues(reads={"clock.wall": 1}), {}, ""),
    (recipe(*BLIND), RunValues({"/recipe/argv": BLIND}, is_watched=True), {}, "yellow record"),
    ({**recipe(*BLIND), "/verdicts": [verdict()]}, RunValues({"/recipe/argv": BLIND}, is_watched=True), {}, ""),
    ({}, None, {"other_files": {"render.twice": ["the run wrote other bytes"]}}, "red record"),
    ({}, None, {"revisions": {1: HEX, 2: HEX}, "log_digest": HEX}, "red revisions"),
    ({"/revision": 3, "/supersedes": f"sha256:{HEX}"}, None, {"revisions": {1: HEX, 3: HEX}, "log_digest": HEX}, "red revisions"),
    ({}, None, {"revisions": {}}, "yellow sealed"),
    ({}, None, {"elsewhere": ["TU-2"]}, "yellow checkpoint"),
    ({}, None, {"copies": ["source.bin"]}, "yellow recipe-reads"),
    (recipe(*NICE), RunValues({"/recipe/argv": NICE}, is_watched=True), {}, "yellow record"),
    ({}, None, {"latest": "2026-01-30T00:00:00Z"}, "red dates:/created, red dates:/evidence/~1producer/when"),
    (OLD, None, {}, "yellow re-rendered"),
]  # fmt: skip


@pytest.mark.parametrize(("changes", "run", "store", "expected"), REFUTED, ids=range(len(REFUTED)))
def test_what_the_store_refutes_does_not_pass(
    changes: dict[str, Any], run: RunValues | None, store: dict[str, Any], expected: str
) -> None:
    assert ", ".join(wanting(judged(changed("art", changes), run, **store))) == expected


FLOATING = (
    "main", ">=1.0", "x.y.z", "v0", "00", "0.0.0-dev", "1.0-dev", "trunk", "tip 3", "1.2 or later", "2+", "≥1.0",
    "-1.1", "\u22122", "foo", "version", "most recent", "default", "v1 (current)", "~=2", "~1.2",
)  # fmt: skip
PINNED = (
    "0.0.1", "v1.9.4", "2.13.0+cu121", "f2.0.1v1.10.1-previous", "2.14.0.dev20250101", "sha256-0000ab12",
    "5.0.0~rc2", "20260131", "3.7.0.10.unofficial", "1.0 beta 0",
)  # fmt: skip


def test_a_version_that_names_none_floats() -> None:
    assert [each for each in FLOATING if not is_floating(each)] == []
    assert [each for each in PINNED if is_floating(each)] == []
    report = judged(changed("art", {"/model/version": "main"}))
    assert wanting(report) == ["red version-pinned:/model/version"]


HOSTED = {
    "Eleven Labs", "ElevenLabsAPI", "eleven\u200blabs", "DALL\u00b7E 3", "\uff33uno", "Udio v1", "Leonardo.Ai",
    "Runway Gen-3", "OpenAI",
}  # fmt: skip
LOCAL = {
    "REAPER audio", "openai whisper", "runwayml/stable-diffusion-v1-5", "audio tool", "consuno", "sunofish", "renderer",
}  # fmt: skip


def test_a_hosted_service_is_known_in_any_spelling_and_no_word_that_holds_its_name() -> None:
    for name in HOSTED | LOCAL:
        expected = ["red provider-ceiling"] if name in HOSTED else []
        assert wanting(judged(changed("art", {"/provider/name": name}))) == expected, name


def test_a_set_has_one_version_one_policy_one_loudness() -> None:
    documents = [art("art-one"), art("art-two"), audio("audio-one"), audio("audio-two")]
    documents[1]["model"]["version"] = "1.1"
    documents[1]["seed"] = NA
    documents[3]["audio"]["loudness"]["target_lufs"] = -16.3

    def judge() -> AssetGateReport:
        seen = SeenFile("asset", OTHER_HEX)
        run = RunValues({"/recipe/argv": art()["recipe"]["argv"]}, is_watched=True)
        return judge_facts([
            AssetFacts("asset", "a", examined=examine(each), seen=seen, inputs={"render.py": HEX},
                       records={"render.twice": (HEX, run)})
            for each in documents
        ])  # fmt: skip

    unit = "TU-2026-01-31-IL01"
    assert [(row.asset, row.check) for row in judge().wanting()] == [
        (f"{unit} (art)", "set-model:stable-diffusion-xl"),
        (f"{unit} (art)", "set-seeds:stable-diffusion-xl"),
        (f"{unit} (audio)", "set-loudness:instrument"),
    ]
    documents[1]["work_unit"] = documents[3]["work_unit"] = "TU-other"
    assert judge().result is AssetGateResult.PASS


def test_every_row_is_of_a_check_that_the_guide_describes() -> None:
    described = re.findall(
        r"`([a-z-]+)`", "".join(re.findall(r"(?m)^\| (`.+?) \|", GUIDE.read_text()))
    )
    rows = [row for name, at, _ in CASES for row in judged(changed(name, at)).rows]

    assert {row.check.partition(":")[0] for row in rows} <= set(described)
    assert all((row.fix and row.owner) or row.status == "green" for row in rows)
    assert all(len(row.evidence) <= 400 and len(row.fix) <= 400 for row in rows)


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5)
    | st.sampled_from(["deterministic", "hosted", "0", "latest", "1/1"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=4), inner, max_size=2),
    max_leaves=4,
)  # fmt: skip
POINTERS = {name: [pointer for pointer, _ in leaves(each)] for name, each in COMPLETE.items()}


@given(st.data())
def test_no_mutation_of_a_log_stops_the_gate(data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(sorted(COMPLETE)))
    document: Any = copy.deepcopy(COMPLETE[name])
    for pointer in data.draw(
        st.lists(st.sampled_from(["", *POINTERS[name]]), min_size=1, max_size=4)
    ):
        if not pointer:
            document = data.draw(JUNK)
            break
        try:
            inside, key = holder(document, pointer)
            inside[key] = data.draw(JUNK)
        except (KeyError, IndexError, TypeError, ValueError):
            continue
    report = judged(document)

    assert report.rows
    if examine(document).problems:
        assert report.result is AssetGateResult.BLOCK
    json.dumps(report.to_json())
    report.to_markdown()
