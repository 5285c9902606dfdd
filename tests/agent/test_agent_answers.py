"""Answers: within their bytes whatever a command gives, and with what decides first."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from programs import call

pytest.importorskip("mcp")

from hypothesis import given, settings
from hypothesis import strategies as st

from twice.agent.answers import BYTES_MAX, answer, refuse
from twice.agent.errors import NothingThere
from twice.agent.resources import PAGE, PROMPTS, Answers, parse_address, write_prompt
from twice.diagnosis.divergence import Divergence, OperationFound
from twice.diagnosis.log_comparison import PointRef
from twice.foundation.comparison import FieldDifference
from twice.foundation.determinism_class import Predicate
from twice.report.divergence_assessment import assess_divergence
from twice.report.review_assessment import assess_review

FOUND = Divergence(
    "a.twice",
    "b.twice",
    "localised",
    Predicate(),
    ["sim"],
    compare_point=PointRef(5, 4, "tick"),
    components=["sim"],
    operation=OperationFound("/p/sim.py", 7, "step", "x = f()", "x", "1", "2", 0.95),
    blind_spots=["sim.cache"],
)
DIVERGENCE: dict[str, Any] = FOUND.to_json()
texts = st.lists(st.text(max_size=3000), max_size=40)
fields = st.builds(
    FieldDifference, path=st.text(max_size=800), kind=st.just("value"), a=st.text(), b=st.text(max_size=800)
)  # fmt: skip


@settings(max_examples=25, deadline=None)
@given(rows=st.lists(fields, max_size=30), told=texts)
def test_an_answer_is_within_its_bytes(rows: list[FieldDifference], told: list[str]) -> None:
    found = replace(FOUND, fields=rows, evidence=told, caveats=told, blind_spots=told)
    document = found.to_json()
    made = answer("diagnose", document, "twice://answer/1/1")
    assert len(json.dumps(made).encode()) <= BYTES_MAX
    assert made == answer("diagnose", document, "twice://answer/1/1")
    assert made["confidence"] == 0.95
    assert made["headline"] == "localised, tick 4, sim.py:7 (95% sure): x: 1 / 2"


def test_a_state_of_200_fields_is_cut_and_says_so() -> None:
    rows = [FieldDifference(f"world.agents[{n}].energy", "value", "1.5", "2.5") for n in range(200)]
    told = answer("diagnose", replace(FOUND, fields=rows).to_json(), "twice://answer/1/1")
    assert len(json.dumps(told).encode()) <= 1200 * 2.5  # bytes of a token in paths and numbers
    assert told["omitted"]["fields"] + len(told["answer"]["fields"]) == 200
    assert told["answer"]["operation"]["line"] == 7


def test_a_divergence_is_answered_in_the_words_of_its_report() -> None:
    assessed = assess_divergence(DIVERGENCE)
    verified = {
        "result": "FAIL",
        "compare_points": {"passed": 4, "evaluated": 5},
        "environment": {},
        "caveats": ["the machine differs"],
        "divergence": DIVERGENCE,
    }
    for told in (
        answer("diagnose", DIVERGENCE, "twice://answer/1/1"),
        answer("verify", verified, "twice://answer/1/1"),
    ):
        assert told["confidence"] == assessed.confidence[0].value
        assert (told["risk"], told["gaps"]) == (assessed.risk, assessed.gaps)
        assert told["caveats"][-1] == assessed.caveats[-1]
        assert told["sentence"] == assessed.sentence
    assert told["caveats"][0] == "the machine differs"


def test_a_review_is_answered_in_the_words_of_its_report(tmp_path: Path) -> None:
    source = "import numpy as np\n\n\ndef f(w):\n    w.x = np.random.default_rng().normal()\n"
    (tmp_path / "sim.py").write_text(source)
    document = json.loads(call("review", ".", "--json", cwd=tmp_path).stdout)
    told, assessed = answer("review", document, "twice://answer/1/1"), assess_review(document)

    assert told["confidence"] == document["verdict"]["confidence"]
    assert told["headline"] == assessed.summary
    assert told["sentence"] == assessed.sentence
    for name, rows in (("risk", assessed.risk), ("gaps", assessed.gaps)):
        assert [each[:90] for each in told[name]] == [each[:90] for each in rows]
    assert len(json.dumps(told).encode()) <= BYTES_MAX


def test_an_answer_without_an_assessment_has_no_number() -> None:
    told = answer("records", {"records": []}, "twice://answer/1/1")

    assert (told["confidence"], told["risk"], told["sentence"]) == (None, [], "")


def test_of_a_variation_what_differs_comes_first() -> None:
    factors = [
        {"factor": "hash seed", "value": "1", "result": "differs", "reason": "r", "divergence": DIVERGENCE},
        {"factor": "folder", "value": "x", "result": "failed", "reason": "FileNotFoundError", "divergence": None},
        {"factor": "locale", "value": "de", "result": "same", "reason": "", "divergence": None},
        {"factor": "gpu", "value": "", "result": "unavailable", "reason": "no card", "divergence": None},
    ]  # fmt: skip
    told = answer("vary", {"result": "FAIL", "factors": factors}, "twice://answer/1/1")
    assert told["headline"] == "FAIL: depends on hash seed (sim.py:7), folder"
    assert told["answer"]["depends_on"][1]["said"] == "FileNotFoundError"
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
        "caveats": ["standard error was not compared"],
        "measured": ["took [0-9.]+ s"],
    }
    told = answer("vary", document, "twice://answer/1/1")
    assert told["headline"] == (
        "FAIL: differs from itself (sim.py:7), with nothing varied; depends on hash seed (sim.py:7)"
    )
    assert told["next"][0]["arguments"] == {"ignore_output": ["took [0-9.]+ s"]}
    assert told["caveats"] == ["standard error was not compared"]


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
