"""The table of rules that decides a verdict: each rule by itself, which comes first, and what the guide says."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import twice
from twice.foundation.determinism_class import DeterminismClass, Predicate, Scope
from twice.foundation.environment import EnvironmentDifference
from twice.replayer.file_report import FileJudgement
from twice.replayer.outcome import Failure, SourceChange
from twice.replayer.verdict import RULES, Evidence, decide, write_rules
from twice.replayer.verification import Verification

GUIDE = Path(__file__).parents[2] / "docs/guides/verdicts.md"
EQUAL = Verification(
    path=Path("a.twice"),
    run_id="1",
    predicate=Predicate(),
    subsystems=(),
    counts={"evaluated": 3, "passed": 3, "failed": 0, "within_tolerance": 0},
)
FAILURE = Failure(2, 1, "tick", ("walk",), "1", "2")
REFUSED = Failure(2, 1, "seal", ("effects",), "nothing", "E-SEAL-001, or --allow files.native")
EDITED = SourceChange("a.py", "sha256:0", "sha256:1")
STARS = "E-REDACT-002 Stars were given. Expected none. Set it."
UNRECORDED = {"source": "files.native", "class": "unsupported", "allowed": False, "remedy": "no"}
PROCESS = {"source": "process.start", "class": "repeated", "allowed": False}
SAMPLES = {
    "agrees": True,
    "seeds_needed": 90,
    "n": 30,
    "epsilon": 0.5,
    "alpha": 0.05,
    "power": 0.8,
    "power_reached": 0.31,
    "reason": "too few.",
    "remedy": "it takes 90 seeds",
    "summary": "reward",
    "test": "means",
}
MOVED = EnvironmentDifference("probe libm.exp", "0a", "0b", "numerics")
UNINSTALLED = EnvironmentDifference("library bpy", "4.5.15", "", "libraries")
UNWRITTEN = FileJudgement(refused_writes=["not judged: a.db was refused"])

ALONE: dict[str, dict[str, Any]] = {
    "restore-differs": {"restores": {"tested": 2, "failed": [{"reason": "another way"}]}},
    "sample-differs": {"samples": {**SAMPLES, "agrees": False}},
    "restore-died": {"restores": {"tested": 2, "failed": [], "unjudged": ["not judged: it died"]}},
    "process-died": {"death": "The process died: signal SIGKILL, after compare-point 2. "},
    "redacted": {"failure": FAILURE, "withheld": STARS},
    "order": {"failure": FAILURE, "open_order": "the same lines were printed in another order"},
    "no-copy": {"failure": REFUSED, "files": FileJudgement("supervisor", "refusal", "no overlay")},
    "escaped": {"failure": REFUSED, "escapes": ["files.native"]},
    "write-refused": {"files": UNWRITTEN},
    "processes-differ": {"failure": FAILURE, "inventory": [PROCESS]},
    "files-differ": {"failure": FAILURE, "files": FileJudgement(unknown=["a.db: torn"])},
    "native-differs": {"failure": FAILURE, "inventory": [UNRECORDED]},
    "library-missing": {"failure": FAILURE, "environment": [UNINSTALLED]},
    "machine-differs": {"failure": FAILURE, "environment": [MOVED]},
    "different": {"failure": FAILURE},
    "not-judged": {"not_judged": ["the record holds no compare-point to judge"]},
    "nothing-judged": {"counts": {**EQUAL.counts, "evaluated": 0}},
    "other-code": {"changed_code": [EDITED]},
    "sample-open": {"samples": {**SAMPLES, "agrees": None}},
    "file-unknown": {"files": FileJudgement(unknown=["a.db: torn"])},
    "unrecorded": {"inventory": [UNRECORDED]},
    "nothing-compared": {"compares_nothing": True},
    "torn": {"is_torn": True},
    "interrupted": {"is_interrupted": True},
    "segment": {"is_segment": True},
    "equal": {},
}
"""What makes each rule decide, by its id."""


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_each_rule_decides_by_itself(rule: Any) -> None:
    decision = decide(replace(EQUAL, **ALONE[rule.id]))
    assert (decision.rule, decision.result) == (rule.id, rule.result)


@given(names=st.sets(st.sampled_from(sorted(ALONE)), max_size=5))
def test_more_evidence_never_turns_doubt_into_a_pass(names: set[str]) -> None:
    found: Evidence = EQUAL
    for name in sorted(names):
        found = replace(found, **ALONE[name])
    result = decide(found).result
    if result == "PASS":
        assert not any(rule.applies(found) for rule in RULES[:-1])
    if result == "FAIL":
        restored, sampled = found.restores is not None, found.samples is not None
        assert found.failure is not None or restored or sampled
        assert not found.death or restored or sampled


def test_a_verdict_that_is_open_for_two_reasons_says_both() -> None:
    found = replace(EQUAL, inventory=[UNRECORDED], files=FileJudgement(unknown=["a.db: torn"]))
    assert [text.split(":")[0] for text in found.caveats] == [
        "no pass, because of a file",
        "no pass, because a source of the world is not recorded",
    ]


def test_reasons_for_doubt_are_not_said_of_a_failure() -> None:
    found = replace(EQUAL, **ALONE["order"], samples=ALONE["sample-differs"]["samples"])
    assert (found.result, found.headline, found.caveats) == ("FAIL", [], [])


def test_whether_a_record_is_torn_is_no_matter_of_words() -> None:
    found = replace(EQUAL, is_segment=True, notes=["read on threads: tornado.ioloop 3 times"])
    assert (found.result, found.exit_code) == ("PARTIAL", 0)
    assert replace(found, is_torn=True).exit_code == 2


def test_a_failed_restore_says_nothing_where_stars_were_given() -> None:
    found = replace(EQUAL, **ALONE["redacted"], restores={"tested": 1, "failed": [{}]})
    assert found.result == "UNKNOWN"


def test_other_code_never_passes_and_says_so_first() -> None:
    assert replace(EQUAL, changed_code=[EDITED, replace(EDITED, path="b.py")]).caveats == [
        "informational: the code differs from the recorded one: a.py, b.py"
    ]
    assert replace(EQUAL, changed_code=[EDITED], failure=FAILURE).result == "FAIL"


def test_a_statement_says_who_verified_which_code_and_when() -> None:
    gpu = {"driver": "570.1", "card 0": "NVIDIA A"}
    told = replace(
        EQUAL, changed_code=[EDITED], issued_at="2026-11-28T10:00:00Z", gpu=gpu
    ).to_json()

    assert told["code"]["changed"] == [{"path": "a.py", "recorded": "sha256:0", "now": "sha256:1"}]
    assert (told["informational"], told["issued_at"]) == (True, "2026-11-28T10:00:00Z")
    assert told["verifier"]["twice"] == twice.__version__
    assert told["verifier"]["gpu"] == gpu
    assert EQUAL.to_json()["informational"] is False
    assert EQUAL.to_json()["issued_at"].endswith("Z")


def test_the_guide_holds_the_table_of_rules() -> None:
    assert write_rules() in GUIDE.read_text("utf-8")


@pytest.mark.parametrize(
    ("predicate", "probe", "result"),
    [
        (Predicate(), "libm.exp", "UNKNOWN"),
        (Predicate(scope=Scope.CROSS_HOST), "libm.exp", "FAIL"),
        (Predicate(DeterminismClass.LOGICAL), "libm.exp", "FAIL"),
        (Predicate(DeterminismClass.LOGICAL), "float.rounding", "UNKNOWN"),
        (Predicate(DeterminismClass.LOGICAL), "hash.text", "UNKNOWN"),
    ],
)
def test_a_machine_that_computes_otherwise_is_not_the_programs_fault(
    predicate: Predicate, probe: str, result: str
) -> None:
    moved = replace(MOVED, what=f"probe {probe}")
    found = replace(EQUAL, failure=FAILURE, predicate=predicate, environment=[moved])
    assert found.result == result
    assert (f"(probes: {probe})" in "".join(found.headline)) == (result == "UNKNOWN")
    assert replace(found, failure=None).result == "PASS"


def test_a_probe_that_could_not_be_asked_has_not_moved() -> None:
    gone = replace(MOVED, what="probe torch.matmul", now=None)
    assert replace(EQUAL, failure=FAILURE, environment=[gone]).result == "FAIL"


@pytest.mark.parametrize(
    ("found", "said"),
    [
        ({}, True),
        ({"death": "The process died: signal SIGKILL. "}, False),
        ({"failure": FAILURE}, False),
    ],
)
def test_replays_agree_only_where_all_of_them_ended(found: dict[str, Any], said: bool) -> None:
    executed = 3 if said else 1
    repeated = replace(EQUAL, repeats={"planned": 3, "executed": executed}, **found)
    assert ("replays agree" in "".join(repeated.headline)) == said


def test_a_pass_is_a_line_and_what_limits_it() -> None:
    limited = replace(EQUAL, notes=["its state was not compared"], environment=[MOVED])

    assert EQUAL.to_text() == "PASS: a.twice: 3 compare-points agree; bit-exact, scope host"
    assert limited.to_text().splitlines() == [
        "PASS: a.twice: 3 compare-points agree, although 1 thing differs in the environment: probe libm.exp; bit-exact, scope host",
        "- caveat: its state was not compared",
    ]
    assert EQUAL.to_text(whole=True).splitlines()[2].startswith("- predicate: ")


@pytest.mark.parametrize("rule", [each for each in RULES if each.result != "PASS"])
def test_no_other_verdict_is_shortened(rule: Any) -> None:
    found = replace(EQUAL, **ALONE[rule.id])

    assert found.to_text() == found.to_text(whole=True)


def test_on_a_machine_that_computes_otherwise_the_line_is_found_and_no_option_hides_it() -> None:
    texts = [f"files.written('m.txt') of {size} bytes" for size in (1, 2)]
    here = replace(EQUAL, failure=Failure(2, 1, "effect", ("files",), *texts))
    elsewhere = replace(here, environment=[MOVED])

    assert (here.result, elsewhere.result) == ("FAIL", "UNKNOWN")
    for found in (here, elsewhere):
        (step,) = found.list_next_steps()
        assert step.command == "twice verify a.twice --diagnose"
    assert "--file-policy m.txt=existence" in here.suggestions()[0]
    assert elsewhere.suggestions() == []
