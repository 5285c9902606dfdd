"""What a file says, put into a log: filled, confirmed, in conflict, and always a new revision."""

from __future__ import annotations

import copy
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from madefiles import imported, png

from twice.assets.errors import ImportRefused
from twice.assets.importers.detect import import_file
from twice.assets.importers.merge import ImportConflict, check_choices, merge_into
from twice.assets.log.io import examine, log_digest
from twice.assets.log.kinds import Fault

DATA = Path(__file__).with_name("data")
DECLARED = {"level": "declared", "who": "a maker", "when": "2026-01-01T00:00:00Z"}
LOG: dict[str, Any] = {
    "format": "twice.determinism-log/1", "log_id": "pier-01", "kind": "art", "revision": 3,
    "supersedes": "sha256:" + "0" * 64, "promise": {"mode": "deterministic", "grade": "payload"},
    "art": {"steps": 20, "sampler": "ddim", "scheduler": "unknown"},
    "evidence": {"/art/steps": DECLARED, "/art/sampler": DECLARED},
}  # fmt: skip
SWARM = import_file(DATA / "swarm.png")


def test_a_log_is_filled_confirmed_or_in_conflict_and_becomes_a_new_revision() -> None:
    before = copy.deepcopy(LOG)
    found = merge_into(LOG, SWARM, {})
    after = found.document

    assert before == LOG
    assert (after["revision"], after["supersedes"]) == (4, log_digest(examine(LOG).log))
    assert (after["art"]["scheduler"], after["seed"]) == ("normal", {"effective": "42"})
    assert after["environment"]["packages"] == {"SwarmUI": "0.9.5.0"}
    assert after["evidence"]["/seed/effective"] == {
        "level": "imported", "chunk": "tEXt parameters", "file": "swarm.png", "sha256": SWARM.sha256,
    }  # fmt: skip
    assert found.confirmed == ["/art/steps"]
    assert after["evidence"]["/art/steps"]["level"] == "imported"
    assert found.conflicts == [ImportConflict("/art/sampler", "ddim", "euler")]
    assert (after["art"]["sampler"], after["evidence"]["/art/sampler"]) == ("ddim", DECLARED)


def test_a_choice_settles_a_conflict_either_way_and_a_second_import_changes_nothing() -> None:
    taken = merge_into(LOG, SWARM, {"/art/sampler": "euler"})
    kept = merge_into(LOG, SWARM, {"/art/sampler": "ddim"})
    again = merge_into(taken.document, SWARM, {})

    assert (taken.taken, taken.conflicts) == (["/art/sampler"], [])
    assert taken.document["art"]["sampler"] == "euler"
    assert (kept.conflicts, kept.document["art"]["sampler"]) == ([], "ddim")
    assert (again.changed, again.document) == (False, taken.document)


def test_a_reason_why_a_field_does_not_apply_is_a_value_of_the_log() -> None:
    log = LOG | {"seed": {"not_applicable": "drawn by hand"}}
    found = merge_into(log, SWARM, {})

    assert {each.pointer for each in found.conflicts} == {"/art/sampler", "/seed/effective"}


def test_a_value_that_a_log_does_not_take_is_named() -> None:
    found = merge_into(LOG, replace(SWARM, values={**SWARM.values, "/art/prompt": 7}), {})

    assert [pointer for pointer, _ in found.unfit] == ["/art/prompt"]
    assert "prompt" not in found.document["art"]


def test_a_sound_does_not_go_into_the_log_of_a_picture() -> None:
    with pytest.raises(ImportRefused, match="the log is about art"):
        merge_into(LOG, import_file(DATA / "rpp.rpp"), {})


def test_an_ambiguity_is_settled_only_by_one_of_its_candidates() -> None:
    tail = "Steps: 20, Sampler: Euler, Seed:"
    data = png(("parameters", f"a\n{tail} 5"), ("parameters", f"a\n{tail} 6"))
    settled = imported(data, **{"/seed/effective": "6"})
    wrong = imported(data, **{"/seed/effective": "7"})

    assert (settled.values["/seed/effective"], settled.ambiguities) == ("6", ())
    assert settled.evidence["/seed/effective"].chunk.startswith("chosen among 2: ")
    with pytest.raises(ImportRefused, match="not one of the values"):
        check_choices(wrong, {"/seed/effective": "7"}, {})


@pytest.mark.parametrize(
    ("pointer", "value", "words"),
    [("/art/cfg", 5, "Expected a field that the file says"), ("/art/steps", 21, "not one of the values")],
)  # fmt: skip
def test_a_choice_of_what_is_not_there_is_refused(pointer: str, value: int, words: str) -> None:
    with pytest.raises(ImportRefused, match=words):
        check_choices(SWARM, {pointer: value}, LOG)


@pytest.mark.parametrize("path", sorted(DATA.glob("*.*")), ids=lambda path: path.name)
def test_a_log_takes_all_that_the_samples_say(path: Path) -> None:
    said = import_file(path)
    kind = "audio" if "/audio/daw/name" in said.values else "art"
    found = merge_into({"kind": kind, "promise": LOG["promise"]}, said, {})
    wrong = [each for each in examine(found.document).problems if each.fault is not Fault.MISSING]

    assert (found.unfit, wrong) == ([], [])
