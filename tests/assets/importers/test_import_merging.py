"""What a file says, put into a log: filled, confirmed, in conflict, and always a new revision."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
from madefiles import imported, png

from twice.assets.errors import ImportRefused
from twice.assets.importers.detect import import_file
from twice.assets.importers.merge import (
    ImportConflict,
    choose_candidates,
    merge_into,
)
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


def test_missing_and_unknown_fields_are_filled_with_their_evidence() -> None:
    after = merge_into(LOG, SWARM, {}).document

    assert (after["art"]["scheduler"], after["seed"]) == ("normal", {"effective": "42"})
    assert after["evidence"]["/seed/effective"] == {
        "level": "imported", "chunk": "tEXt parameters", "file": "swarm.png", "sha256": SWARM.sha256,
    }  # fmt: skip
    assert after["environment"]["packages"] == {"SwarmUI": "0.9.5.0"}


def test_a_new_revision_names_the_one_before() -> None:
    before = copy.deepcopy(LOG)
    after = merge_into(LOG, SWARM, {}).document

    assert before == LOG
    assert after["revision"] == 4
    assert after["supersedes"] == log_digest(examine(LOG).log)


def test_a_declared_value_that_the_file_confirms_is_imported() -> None:
    found = merge_into(LOG, SWARM, {})

    assert found.confirmed == ["/art/steps"]
    assert found.document["evidence"]["/art/steps"]["level"] == "imported"


def test_what_differs_stays_and_is_reported() -> None:
    found = merge_into(LOG, SWARM, {})

    assert found.conflicts == [ImportConflict("/art/sampler", "ddim", "euler")]
    assert found.document["art"]["sampler"] == "ddim"
    assert found.document["evidence"]["/art/sampler"] == DECLARED


def test_a_choice_settles_a_conflict_either_way() -> None:
    taken = merge_into(LOG, SWARM, {"/art/sampler": "euler"})
    kept = merge_into(LOG, SWARM, {"/art/sampler": "ddim"})

    assert (taken.taken, taken.conflicts) == (["/art/sampler"], [])
    assert taken.document["art"]["sampler"] == "euler"
    assert (kept.conflicts, kept.document["art"]["sampler"]) == ([], "ddim")


def test_a_second_import_changes_nothing() -> None:
    once = merge_into(LOG, SWARM, {"/art/sampler": "euler"}).document
    again = merge_into(once, SWARM, {})

    assert (again.changed, again.document) == (False, once)


def test_a_reason_why_a_field_does_not_apply_is_a_value_of_the_log() -> None:
    log = LOG | {"seed": {"not_applicable": "drawn by hand"}}
    found = merge_into(log, SWARM, {})

    assert {each.pointer for each in found.conflicts} == {"/art/sampler", "/seed/effective"}


def test_a_value_that_a_log_does_not_take_is_named() -> None:
    file = imported(png(("invokeai_metadata", '{"model": {"name": "m"}, "positive_prompt": "p"}')))
    values = dict(file.values) | {"/art/prompt": 7}
    found = merge_into(LOG, with_values(file, values), {})

    assert [pointer for pointer, _ in found.unfit] == ["/art/prompt"]
    assert "prompt" not in found.document["art"]


def with_values(file: Any, values: dict[str, Any]) -> Any:
    import dataclasses

    return dataclasses.replace(file, values=values)


def test_a_sound_does_not_go_into_the_log_of_a_picture() -> None:
    project = imported(b'<REAPER_PROJECT 0.1 "7.03"\n TEMPO 120 4 4\n>\n')

    with pytest.raises(ImportRefused, match="the log is about art"):
        merge_into(LOG, project, {})


def test_an_ambiguity_is_settled_only_by_one_of_its_candidates() -> None:
    tail = "Steps: 20, Sampler: Euler, Seed:"
    file = imported(png(("parameters", f"a\n{tail} 5"), ("parameters", f"a\n{tail} 6")))

    settled = choose_candidates(file, {"/seed/effective": "6"}, {})

    assert (settled.values["/seed/effective"], settled.ambiguities) == ("6", ())
    assert settled.evidence["/seed/effective"].chunk.startswith("chosen among 2: ")
    with pytest.raises(ImportRefused, match="not one of the values"):
        choose_candidates(file, {"/seed/effective": "7"}, {})


def test_a_choice_of_what_is_not_there_is_refused() -> None:
    with pytest.raises(ImportRefused, match="/art/cfg"):
        choose_candidates(SWARM, {"/art/cfg": 5}, LOG)
    with pytest.raises(ImportRefused, match="not one of the values"):
        choose_candidates(SWARM, {"/art/steps": 21}, LOG)


@pytest.mark.parametrize("name", ["a1111", "comfy", "invoke", "novel", "swarm", "uni"])
def test_a_log_takes_all_that_the_samples_say(name: str) -> None:
    log = {"kind": "art", "promise": LOG["promise"]}
    found = merge_into(log, import_file(DATA / f"{name}.png"), {})
    wrong = [p for p in examine(found.document).problems if p.fault is not Fault.MISSING]

    assert (found.unfit, wrong) == ([], [])


def test_a_log_takes_all_that_a_project_says() -> None:
    from test_import_reaper import rpp

    found = merge_into({"kind": "audio", "promise": LOG["promise"]}, rpp(), {})
    wrong = [p for p in examine(found.document).problems if p.fault is not Fault.MISSING]

    assert (found.unfit, wrong) == ([], [])
