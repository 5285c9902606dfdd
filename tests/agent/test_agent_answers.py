"""Answers: within their bytes whatever a command gives, and with what decides first."""

from __future__ import annotations

import json
from typing import Any

import pytest

pytest.importorskip("mcp")

from hypothesis import given, settings
from hypothesis import strategies as st

from twice.agent.answers import BYTES_MAX, answer, refuse
from twice.agent.errors import NothingThere
from twice.agent.resources import PAGE, PROMPTS, Answers, parse_address, write_prompt

OPERATION = {"file": "/p/sim.py", "line": 7, "name": "x", "a": "1", "b": "2", "confidence": 0.95}
DIVERGENCE: dict[str, Any] = {
    "result": "localised",
    "a": "a.twice",
    "b": "b.twice",
    "compare_point": {"index": 5, "tick": 4},
    "operation": OPERATION,
    "caveats": [],
    "blind_spots": ["sim.cache"],
}
json_values = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False) | st.text(max_size=800),
    lambda inner: st.lists(inner, max_size=30) | st.dictionaries(st.text(max_size=30), inner, max_size=30),
    max_leaves=30,
)  # fmt: skip


@settings(max_examples=25, deadline=None)
@given(fields=json_values, evidence=st.lists(st.text(max_size=3000), max_size=40))
def test_an_answer_is_within_its_bytes(fields: Any, evidence: list[str]) -> None:
    document = {**DIVERGENCE, "fields": fields, "evidence": evidence, "caveats": evidence}
    told = answer("diagnose", document, "twice://answer/1/1")
    assert len(json.dumps(told).encode()) <= BYTES_MAX
    assert told == answer("diagnose", document, "twice://answer/1/1")
    assert told["confidence"] == 0.95
    assert told["headline"] == "localised, tick 4, sim.py:7 (95% sure): x: 1 / 2"


def test_a_state_of_200_fields_is_cut_and_says_so() -> None:
    fields = [{"path": f"world.agents[{n}].energy", "a": "1.5", "b": "2.5"} for n in range(200)]
    told = answer("diagnose", {**DIVERGENCE, "fields": fields}, "twice://answer/1/1")
    assert len(json.dumps(told).encode()) <= 1200 * 2.5  # bytes of a token in paths and numbers
    assert told["omitted"]["fields"] + len(told["answer"]["fields"]) == 200
    assert told["answer"]["operation"]["line"] == 7
    assert told["gaps"] == ["sim.cache"]


def test_of_a_variation_what_differs_comes_first() -> None:
    factors = [
        {"factor": "hash seed", "value": "1", "result": "differs", "reason": "r", "divergence": DIVERGENCE},
        {"factor": "locale", "value": "de", "result": "same", "reason": "", "divergence": None},
        {"factor": "gpu", "value": "", "result": "unavailable", "reason": "no card", "divergence": None},
    ]  # fmt: skip
    told = answer("vary", {"result": "FAIL", "factors": factors}, "twice://answer/1/1")
    assert told["headline"] == "FAIL: depends on hash seed (sim.py:7)"
    assert told["answer"]["same"] == ["locale"]
    assert told["answer"]["not_tried"] == {"gpu": "no card"}
    assert told["next"][0] == {
        "tool": "check",
        "arguments": {"paths": ["/p/sim.py"]},
        "why": "what does the code say of that line?",
    }


def test_a_program_that_differs_from_itself_comes_beside_what_it_depends_on() -> None:
    row = {"factor": "", "value": "", "result": "differs", "reason": "r", "divergence": DIVERGENCE}
    document = {
        "result": "FAIL",
        "factors": [{**row, "factor": "nothing"}, {**row, "factor": "hash seed"}],
        "left_out": [],
        "measured": ["took [0-9.]+ s"],
    }
    told = answer("vary", document, "twice://answer/1/1")
    assert told["headline"] == (
        "FAIL: differs from itself (sim.py:7), with nothing varied; depends on hash seed (sim.py:7)"
    )
    assert told["next"][0]["arguments"] == {"ignore_output": ["took [0-9.]+ s"]}


def test_a_check_that_does_not_apply_does_not_fail() -> None:
    checks = [
        {"id": 1, "title": "Tier coverage", "outcome": "pass", "reason": "", "faults": []},
        {"id": 2, "title": "Class", "outcome": "fail", "reason": "", "faults": [{"happened": "x"}]},
        {"id": 11, "title": "Concurrency", "outcome": "na", "reason": "none", "faults": []},
    ]
    told = answer("gate", {"result": "FAIL", "checks": checks}, "twice://answer/1/1")
    assert told["headline"] == "FAIL: check 2"
    assert [each["id"] for each in told["answer"]["failing"]] == [2]


@pytest.mark.parametrize(
    ("document", "headline"),
    [
        ({"missing": ["07"], "owed": [], "tier": "S"}, "1 missing"),
        ({"filled": [{"key": "seed"}], "unknown": ["x", "y"]}, "2 unknown, 1 filled"),
        (
            {"sheets": [{"sheet": "00", "state": "changed"}, {"sheet": "01", "state": "same"}]},
            "1 changed sheet",
        ),
        ({"wrote": [], "waiting": []}, "nothing open"),
    ],
)
def test_each_action_of_a_specification_says_what_it_found(
    document: dict[str, Any], headline: str
) -> None:
    assert answer("spec", document, "twice://answer/1/1")["headline"] == headline


def test_a_scaffold_is_counted_by_action_and_folder() -> None:
    files = [
        {"path": f"tests/test_{n}.py", "layer": "seeds", "action": "create", "why": "", "paste": ""}
        for n in range(20)
    ]
    files += [
        {"path": "conftest.py", "layer": "base", "action": "edited", "why": "it was changed", "paste": ""},
        {"path": ".gitattributes", "layer": "ci", "action": "keep", "why": "it is yours", "paste": "*.twice binary"},
    ]  # fmt: skip
    document = {"component": "swarm", "applied": True, "changed": True, "files": files}
    told = answer("scaffold", document, "twice://answer/1/1")
    assert told["headline"] == "swarm: written; 20 create, 1 edited, 1 keep"
    assert told["answer"] == {
        "component": "swarm",
        "applied": True,
        "changed": True,
        "counts": {"create": {"tests": 20}, "edited": {".": 1}, "keep": {".": 1}},
        "first": [f"tests/test_{n}.py" for n in range(5)],
        "left": [{"path": "conftest.py", "action": "edited", "why": "it was changed"}],
        "paste": [{"path": ".gitattributes", "paste": "*.twice binary"}],
    }
    assert len(json.dumps(told)) < 900


def test_an_error_keeps_its_id_and_remedy() -> None:
    error = NothingThere("There is no page.", "Expected one.", "Call again.", page=3)
    said = refuse(error)
    assert said["ok"] is False
    assert said["error"]["id"] == "E-AGENT-006"
    assert said["error"]["fields"] == {"page": 3}


def test_a_whole_answer_is_read_page_by_page() -> None:
    answers = Answers()
    document = {"rows": ["x" * 100] * 300}
    assert answers.keep(document) == "twice://answer/1/1"
    pages = [answers.read("1", str(n)) for n in (1, 2, 3)]
    assert pages[0].endswith("\n… twice://answer/1/2")
    assert json.loads("".join(page.partition("\n… ")[0] for page in pages)) == document
    assert len(answers.read("1", "1")) <= PAGE + 40
    with pytest.raises(NothingThere):
        answers.read("1", "99")
    for _ in range(60):
        answers.keep({})
    with pytest.raises(NothingThere, match="no page 1 of answer 1"):
        answers.read("1", "1")


@pytest.mark.parametrize(
    "uri",
    [
        "file:///etc/passwd",
        "twice://answer/1",
        "twice://record",
        "twice://record/a/tick",
        "twice://record/a/tick/x",
        "twice://record/a%00",
        "twice://x/1",
    ],
)
def test_an_address_of_nothing_is_refused(uri: str) -> None:
    with pytest.raises(NothingThere):
        parse_address(uri)


def test_a_record_is_addressed_with_its_folder() -> None:
    assert parse_address("twice://record/runs%2Fa.twice/tick/4").parts == (
        "runs/a.twice",
        "tick",
        "4",
    )


@pytest.mark.parametrize("name", PROMPTS)
def test_a_prompt_has_its_arguments(name: str) -> None:
    given_all = dict.fromkeys(PROMPTS[name][1].split(), "sim.py")
    assert "sim.py" in write_prompt(name, given_all)
    with pytest.raises(NothingThere):
        write_prompt(name, {})
