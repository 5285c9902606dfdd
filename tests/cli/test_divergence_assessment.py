"""A divergence in the report form: each section comes from its document, and says so where there is nothing."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from programs import call
from twice.diagnosis.divergence import (
    Attribution,
    Confirmation,
    Divergence,
    ExtraRead,
    OperationFound,
)
from twice.diagnosis.log_comparison import InputDifference, PointRef
from twice.foundation.channels import Channel
from twice.foundation.comparison import FieldDifference
from twice.foundation.determinism_class import Predicate
from twice.foundation.next_step import NextStep
from twice.replayer.record_outcomes import OutcomeDifference
from twice.report.assessment import Assessment
from twice.report.divergence_assessment import assess_divergence

GOLDEN = Path(__file__).parents[1] / "golden" / "session"
LINE = OperationFound("/p/walk.py", 7, "Walk.step", "self.x += f(y)", "self.x", "1", "2", 0.95)
ORDER = Attribution(Channel.CONCURRENCY, 0.56, ("the order of names differs",))
WORLD = Attribution(Channel.EFFECTS, 0.44, ("the line reads the clock",))
SECTIONS = [
    "Evidence",
    "Confidence",
    "Risk",
    "Information gaps",
    "Caveats",
    "Next",
    "In plain words",
]


def divergence(result: Any = "localised", **found: Any) -> Divergence:
    known = {
        "predicate": Predicate(),
        "subsystems": ["walk"],
        "compare_point": PointRef(4, 3, "tick"),
        "last_agreement": PointRef(3, 2, "tick"),
        "components": ["walk"],
        "repeats": {"a": [True, True], "b": [True, True]},
    }
    return Divergence("a.twice", "b.twice", result, **{**known, **found})


LOCALISED = divergence(
    operation=LINE,
    fields=[FieldDifference("walk.x", "value", "1.0", "1.5", 3, 2, 9, 0.5)],
    attribution=[ORDER, WORLD],
    surroundings=[("hash seed", "", "PYTHONHASHSEED=2")],
    evidence=["It is the first operation after which the runs stay different."],
    remedies=["Sort it."],
    next=[NextStep("see whether a correction helps", "twice vary walk.py")],
)
NO_LINE = divergence("unlocalised", repeats={}, caveats=["the lines were not asked for"])
RESTLESS = divergence(
    "non-reproducing", operation=LINE, repeats={"a": [False] * 4, "b": [True, False]}
)
EACH = [
    LOCALISED,
    NO_LINE,
    RESTLESS,
    divergence("candidates", candidates=[LINE, replace(LINE, line=9, confidence=0.3)]),
    divergence("same", compare_point=None, last_agreement=None, components=[], repeats={}),
    divergence("within-tolerance", repeats={}),
    divergence("extra-read", reads=[ExtraRead("clock.time")]),
    divergence("not-same-input", input_differences=[InputDifference("seed", "1", "2")], repeats={}),
]


def assess(found: Divergence) -> Assessment:
    return assess_divergence(found.to_json())


def numbers(value: Any) -> set[float]:
    """Collect every number that a document holds: in its texts, too, and how long its lists are."""
    if isinstance(value, dict):
        return set().union(*map(numbers, value.values()), *map(numbers, value))
    if isinstance(value, list):
        return {len(value)}.union(*map(numbers, value))
    if isinstance(value, str):
        return {float(each) for each in re.findall(r"\d+(?:\.\d+)?", value)}
    return set() if value is None else {float(value), round(100 * value)}


@pytest.mark.parametrize("found", EACH, ids=lambda found: found.result)
def test_no_number_is_in_a_report_that_its_document_does_not_hold(found: Divergence) -> None:
    document = json.loads(json.dumps(found.to_json()))
    held = numbers(document)
    rows = document["reproduced"].values()
    executed = sum(each["executed"] for each in rows)
    held |= {round(100 * sum(each["as_recorded"] for each in rows) / max(1, executed))}
    said = re.sub(r"sheet [\w-]+\.md|tick 0", "", assess(found).to_markdown())

    assert numbers(said) - held == set()


@pytest.mark.parametrize("found", EACH, ids=lambda found: found.result)
def test_a_report_has_its_sections_in_80_columns(found: Divergence) -> None:
    lines = assess(found).to_markdown().splitlines()

    assert [line.removeprefix("## ") for line in lines if line.startswith("## ")] == SECTIONS
    assert [line for line in lines if len(line) > 80 and not line.startswith("  `")] == []


def test_each_section_of_a_localised_difference_comes_from_its_facts() -> None:
    told = assess(LOCALISED)

    assert told.summary == "localised, tick 3, walk.py:7 (95% sure): self.x: 1 / 2"
    assert told.basis == [
        "Class: bit-exact (host) of walk.",
        "Inputs: no difference was found.",
        "Surroundings: hash seed: unset / PYTHONHASHSEED=2.",
        "Environment: no difference was found.",
    ]
    assert [each.quote for each in told.evidence if each.quote] == [
        "self.x += f(y)",
        "self.x: 1 / 2",
        "walk.x: 1.0 / 1.5",
    ]
    assert "A field (value, 2 of 9, 0.5 apart, 3 ulps):" in {each.text for each in told.evidence}
    assert [(each.of, each.value) for each in told.confidence] == [
        ("place", 0.95),
        ("channel", 0.56),
        ("reproduction", 1.0),
    ]
    assert told.confidence[1].reason == (
        "concurrency: the order of names differs; not tried by experiment."
    )
    assert told.risk[0].endswith(
        "(it is 95% sure), the difference came from an earlier one: a correction at walk.py:7 leaves it."
    )
    assert told.risk[1:3] == [
        f"The likeliest channel is concurrency (56%). To rule it out: {Channel.CONCURRENCY.facts.rule_out}",
        f"If it is not that channel, effects (44%) is next. To rule it out: {Channel.EFFECTS.facts.rule_out}",
    ]
    assert "from tick 3 on, and they were not seen to meet again" in told.risk[3]
    assert told.gaps == ["No cause was tried by experiment: twice diagnose --confirm tries them."]
    assert [each.quote or each.text for each in told.next] == ["Sort it.", "twice vary walk.py"]
    assert told.sentence == (
        "Two runs with the same inputs gave different results from tick 3 on. The difference begins in line 7 of "
        "walk.py (95% sure). The likeliest cause (56%): the order of names differs."
    )


def test_a_difference_without_a_line_says_so() -> None:
    told = assess(NO_LINE)

    assert {each.of: each.value for each in told.confidence} == dict.fromkeys(
        ["place", "channel", "reproduction"]
    )
    assert told.confidence[0].reason == "No line was named: the lines were not asked for."
    assert told.gaps == [
        "No line is known for sure.",
        "No field of the state was compared.",
        "No channel is known.",
        "No run was executed again, so it is not known whether each run reproduces itself.",
    ]
    assert told.sentence.endswith("The line where it begins is not known for sure.")
    assert "## Next\n\nNone reported." in told.to_markdown()


def test_a_run_that_does_not_reproduce_itself_has_a_low_confidence() -> None:
    told = assess(RESTLESS)
    reproduction = told.confidence[2]

    assert reproduction.value == round(1 / 6, 2)
    assert reproduction.reason.startswith("Run a: 0 of 4 executions as recorded; Run b: 1 of 2 ")
    assert "Low: " in reproduction.reason
    assert "Run a and run b is not as recorded each time" in "".join(told.risk)
    assert told.sentence.startswith("Run a and run b gave another result when executed again")


def test_a_line_that_is_not_sure_only_may_be_the_one() -> None:
    unsure = divergence(operation=replace(LINE, confidence=0.3))

    assert "The difference may begin in line 7 of walk.py (30% sure)." in assess(unsure).sentence


def test_of_candidates_the_likeliest_gives_the_number() -> None:
    told = assess(EACH[3])

    assert (told.confidence[0].value, told.summary) == (0.95, "candidates, tick 3")
    assert "2 possible lines" in told.confidence[0].reason
    assert "No line is known for sure." in told.gaps


@pytest.mark.parametrize("found", EACH[4:], ids=lambda found: found.result)
def test_a_result_without_a_fault_has_no_cost(found: Divergence) -> None:
    told = assess(found)

    assert told.risk == [f"{found.result}: no fault is shown, so no cost of one is known."]
    assert told.confidence[0].value is None
    assert "line" not in told.sentence


def test_other_inputs_are_named_in_plain_words() -> None:
    assert "different inputs (seed)" in assess(EACH[-1]).sentence
    anyway = assess(replace(EACH[-1], result="unlocalised"))
    assert "different inputs gave" in anyway.sentence
    assert "The inputs differ, so the difference breaks no promise." in anyway.risk
    assert "bit-exact" not in " ".join(anyway.risk)


def test_experiments_are_evidence_and_an_open_one_is_a_gap() -> None:
    tried = [
        Confirmation("hash seed", Channel.CONCURRENCY, "confirmed", "It was swapped."),
        Confirmation("clock", Channel.EFFECTS, "open", "It could not be held."),
    ]
    confirmed = replace(ORDER, confirmed=True)
    told = assess(divergence(operation=LINE, attribution=[confirmed], experiments=tried))

    assert told.gaps[0] == "No field of the state was compared."
    assert told.gaps[1:] == ["An experiment could not tell: clock."]
    assert told.confidence[1].reason.endswith("; confirmed by experiment.")
    assert "Experiment, hash seed: confirmed. It was swapped." in {
        each.text for each in told.evidence
    }


def test_files_and_samples_that_differ_are_named() -> None:
    nowhere = {"compare_point": None, "last_agreement": None, "components": []}
    files = divergence(
        "unlocalised", outcome=[OutcomeDifference("file o.csv", "1", "2")], **nowhere
    )
    samples = divergence("same", samples={"summary": "loss"}, **nowhere)

    assert "file o.csv: 1 / 2" in {each.quote for each in assess(files).evidence}
    assert assess(samples).sentence == "The two samples of loss agree."


def test_many_fields_are_counted() -> None:
    fields = [FieldDifference(f"walk.x[{n}]", "value", "1", "2") for n in range(40)]
    told = assess(divergence(fields=fields, operation=LINE))

    assert sum("walk.x" in each.quote for each in told.evidence) == 6
    assert "34 more fields: in the JSON document." in {each.text for each in told.evidence}


def test_a_record_and_its_replay_are_the_subject() -> None:
    assert assess(replace(LOCALISED, b="a.twice")).subject == "a.twice and its replay"


def test_text_of_a_program_is_no_markup_and_steers_no_terminal() -> None:
    row = replace(ORDER, evidence=("a\x1b[2J*b*",))
    text = assess(divergence(operation=LINE, attribution=[row])).to_markdown()

    assert "\x1b" not in text
    assert r"\*b\*" in text


def test_the_command_prints_the_report_form() -> None:
    given = ("diagnose", "run-session-1.twice", "run-session-2.twice", "--no-lines")
    document = json.loads(call(*given, "--json", cwd=GOLDEN).stdout)
    text = call(*given, "--report", cwd=GOLDEN)
    as_json = call(*given, "--report", "--json", cwd=GOLDEN)
    told = assess_divergence(document)

    assert (text.returncode, text.stdout) == (2, told.to_markdown() + "\n")
    assert (as_json.returncode, json.loads(as_json.stdout)) == (2, told.to_json())


def test_a_verification_is_reported_when_it_is_diagnosed() -> None:
    refused = call("verify", "run-session-1.twice", "--report", cwd=GOLDEN)

    assert (refused.returncode, refused.stderr[:9]) == (2, "E-USE-001")
