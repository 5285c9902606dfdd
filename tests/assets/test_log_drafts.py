"""Claims about drafts, comparisons and exports of determinism logs."""

from __future__ import annotations

import copy
import json
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from hotstore import laid, picture, sealed_art, sealed_audio

from completelogs import art, audio
from twice.assets.errors import ExportRefused
from twice.assets.export import (
    BARS,
    abbreviate_role,
    build_art_manifest,
    build_gatecheck,
    build_lock_document,
)
from twice.assets.gate.collector import collect_facts
from twice.assets.gate.gate import run_gate
from twice.assets.log.block import Mode
from twice.assets.log.diff import Impact, compare
from twice.assets.log.drafts import draft, without_wanted
from twice.assets.log.io import examine
from twice.assets.log.kinds import Fault
from twice.assets.log.models import AssetKind

NOW = "2026-01-31T09:30:00Z"


@pytest.mark.parametrize("kind", AssetKind)
@pytest.mark.parametrize("mode", Mode)
def test_a_draft_asks_for_everything_and_holds_nothing(kind: AssetKind, mode: Mode) -> None:
    document = draft(kind, mode)
    left = without_wanted(document)

    assert left == {
        "format": document["format"], "kind": kind, "promise": {"mode": mode},
        "evidence": {"": {"level": "declared"}},
    }  # fmt: skip
    wanted = {each.pointer for each in examine(left).problems if each.fault is Fault.MISSING}
    assert wanted >= {"/producer", "/provider", "/work_unit"}
    assert ("/seed" in wanted) == (mode is Mode.DETERMINISTIC)
    text = json.dumps(document)
    assert ("tempo" in text) == (kind is AssetKind.AUDIO and mode is Mode.DETERMINISTIC)


def test_what_was_filled_in_stays() -> None:
    said = {
        "a": {"wanted": "x"},
        "b": [{"wanted": "y"}, {"name": "n", "sha256": {"wanted": "z"}}],
        "c": {},
        "d": [],
    }

    assert without_wanted(said) == {"b": [{"name": "n"}], "c": {}, "d": []}


CHANGES = [
    ("/art/steps", 21, Impact.RESULT), ("/seed/effective", "8", Impact.RESULT),
    ("/environment/packages/torch", "2.14", Impact.MAYBE), ("/promise/grade", "bytes", Impact.OBLIGATION),
    ("/producer/role", "other", Impact.NONE), ("/asset/file", "b.png", Impact.NONE),
    ("/art/post/0/args/a~1b", 3, Impact.RESULT), ("/recipe/timeout_s", 5, Impact.NONE),
]  # fmt: skip


@pytest.mark.parametrize(("pointer", "value", "effect"), CHANGES)
def test_a_difference_is_named_with_what_it_means(
    pointer: str, value: object, effect: Impact
) -> None:
    other = copy.deepcopy(art())
    inside: Any = other
    *steps, last = [each.replace("~1", "/") for each in pointer.split("/")[1:]]
    for step in steps:
        inside = inside[int(step) if isinstance(inside, list) else step]
    inside[last] = value
    found = compare(examine(art()).log, examine(other).log)

    assert [(each.pointer, each.effect) for each in found.differences] == [(pointer, effect)]
    assert found.to_json()["same"] is False


def test_equal_logs_differ_in_nothing_and_other_kinds_in_much() -> None:
    one, two = examine(art()).log, examine(audio()).log

    assert compare(one, one).differences == ()
    assert compare(one, one).verdict == "The logs say the same."
    assert {"/art", "/audio", "/kind"} <= {each.pointer for each in compare(one, two).differences}


def test_a_longer_chain_differs_at_its_end() -> None:
    other = art()
    other["art"]["post"].append({"tool": "upscaler", "version": "1.0"})
    found = compare(examine(art()).log, examine(other).log).differences

    assert [(each.pointer, each.a) for each in found] == [("/art/post/1", "")]


def test_the_gate_report_of_questfoundry_says_what_was_judged(tmp_path: Path) -> None:
    store = laid(tmp_path)
    sealed_art(store)
    passed = build_gatecheck(run_gate(store.root), "TU-1", "Determinism logs", date(2026, 1, 31))
    picture(store.root / "other.png", colour=4)
    blocked = build_gatecheck(run_gate(store.root), "TU-1", "Determinism logs", date(2026, 1, 31))

    for document in (passed, blocked):
        assert [bar["bar"] for bar in document["bars"]] == list(BARS)
        assert all(
            {"smallest_viable_fix", "owner"} <= set(bar)
            for bar in document["bars"]
            if bar["status"] != "green"
        )
        assert all(5 <= len(bar["evidence"]) <= 400 for bar in document["bars"])
        assert 10 <= len(document["why"]) <= 240
        assert 10 <= len(document["next_actions"]) <= 400
        assert len(document["checklist"]) >= 6
    own = [document["bars"][BARS.index("Determinism")]["status"] for document in (passed, blocked)]
    assert (passed["decision"], blocked["decision"], own) == (
        "conditional pass",
        "block",
        ["green", "red"],
    )


def test_the_gate_report_is_safe_for_players(tmp_path: Path) -> None:
    store = laid(tmp_path)
    sealed_art(store)
    (store.root / "render.py").write_bytes(b"changed")
    text = json.dumps(
        build_gatecheck(run_gate(store.root), "TU-1", "Determinism logs", date(2026, 1, 31))
    )

    assert [
        each for each in ("render.py", "sdxl", "diffusion", "DPM", "lighthouse") if each in text
    ] == []


def test_roles_are_abbreviated() -> None:
    assert [abbreviate_role(each) for each in ("illustrator", "Audio Producer", "AuD", "somebody")] == [
        "IL", "AuP", "AuD", "GK",
    ]  # fmt: skip


def test_the_art_manifest_lists_images_alone(tmp_path: Path) -> None:
    store = laid(tmp_path)
    sealed_art(store)
    sealed_audio(store)
    document = build_art_manifest(collect_facts(store.root), "The Lighthouse", NOW)
    (listed,) = document["assets"]

    assert (listed["filename"], listed["dimensions"], listed["status"]) == (
        "picture.png",
        "64x32",
        "rendered",
    )
    assert len(listed["sha256"]) == 64
    with pytest.raises(ExportRefused, match="no image"):
        build_art_manifest(
            [each for each in collect_facts(store.root) if each.log.kind == "audio"], "x", NOW
        )


def test_the_build_lock_holds_one_version_of_each_tool(tmp_path: Path) -> None:
    store = laid(tmp_path)
    sealed_art(store)
    assert build_lock_document(collect_facts(store.root), "1.0.0")["tools"] == {"torch": "2.13.0"}
    for version in ("x", "1.0", "01.0.0", "1.0.0\n"):
        with pytest.raises(ExportRefused, match="three numbers"):
            build_lock_document(collect_facts(store.root), version)
    environment = copy.deepcopy(audio()["environment"])
    environment["packages"]["torch"] = "2.14.0"
    sealed_audio(store, environment=environment)

    with pytest.raises(ExportRefused, match="torch"):
        build_lock_document(collect_facts(store.root), "1.0.0")
