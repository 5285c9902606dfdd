"""The script of one case: each round asks for what it needs, and blames only what differed twice and alone.

Points are made by hand and given to the script in place of processes, which the tests of whole verifications start.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from twice.foundation.comparison import Abs
from twice.tools import Case
from twice.tools.verification.examination import Examination, find_difference
from twice.tools.verification.processes import NAMES
from twice.tools.verification.report import ToolDescription
from twice.tools.verification.trial import RESTORED_START, ToolTrial, TrialPoint

TOOL = ToolDescription(
    "t", "sha256:t", "deterministic", False, False, False, None, None, "declared", (Case(),), ""
)
SAME = TrialPoint(
    before="sha256:a", after="sha256:b", again="sha256:b", envelope={"ok": True, "result": 1}
)
OTHER = replace(SAME, envelope={"ok": True, "result": 2})
FAILED = replace(SAME, envelope={"ok": False, "error": {"code": "conflict", "message": "No."}})
Answer = Callable[[ToolTrial], TrialPoint]


def examine(answer: Answer, tool: ToolDescription = TOOL) -> Examination:
    """Follow a script to its end; each trial is answered by a function."""

    def run(trials: Sequence[ToolTrial]) -> list[TrialPoint]:
        return [answer(each) for each in trials]

    processes: Any = SimpleNamespace(without_effect={}, run=run)
    found = Examination(tool, ToolTrial(tool.name, Case()), processes)
    script = found.follow_script()
    trials = next(script)
    try:
        while True:
            trials = script.send(run(trials))
    except StopIteration:
        return found


def told(found: Examination) -> list[tuple[str, str]]:
    return [(each.by, each.what) for each in found.exposures]


def test_a_tool_that_is_always_the_same_is_not_exposed() -> None:
    found = examine(lambda _: SAME)

    assert told(found) == []
    assert found.perturbed == [*NAMES]
    assert found.laws == ["name taken", RESTORED_START]


def test_a_difference_of_plain_runs_ends_the_script() -> None:
    found = examine(lambda each: OTHER if each.process else SAME)

    assert told(found) == [("rerun", "result is 1; 2")]
    assert found.perturbed == ()


def test_a_factor_is_named_that_differs_alone_and_twice() -> None:
    found = examine(lambda each: OTHER if "umask" in each.varied else SAME)

    assert told(found) == [("umask", "result is 1; 2")]


def test_factors_that_differ_only_together_are_named_together() -> None:
    found = examine(lambda each: OTHER if {"umask", "locale"} <= {*each.varied} else SAME)

    assert told(found) == [("locale + umask", "result is 1; 2")]


def test_what_differs_once_is_blamed_on_no_factor() -> None:
    left = [OTHER]
    found = examine(lambda each: left.pop() if len(each.varied) > 1 and left else SAME)

    assert told(found) == [("rerun", "everything perturbed at once differed, and not again")]


def test_what_differs_now_and_then_is_blamed_on_no_factor() -> None:
    plain = [SAME, OTHER]
    found = examine(lambda each: OTHER if each.varied else plain.pop(0) if each.process else SAME)

    assert told(found) == [("rerun", "it differs now and then, with nothing perturbed")]


def test_a_tool_that_reaches_out_is_not_run_without_enforcement() -> None:
    details = {"need": "network", "operation": "socket.connect", "place": "a.py:3"}
    error = {"code": "nondeterministic_refused", "message": "No.", "details": details}
    found = examine(lambda _: TrialPoint(envelope={"ok": False, "error": error}))

    assert told(found) == [("enforcement", "it uses socket.connect")]
    assert found.runs == 0
    assert not found.has_rerun


@pytest.mark.parametrize("point", [FAILED, TrialPoint(lost="it took longer than 60 s")])
def test_a_tool_without_a_result_is_not_tried_further(point: TrialPoint) -> None:
    found = examine(lambda _: point)

    assert told(found) == []
    assert found.failure == point.failure


@pytest.mark.parametrize(
    ("promise", "point", "by"),
    [
        ({"reads_only": True}, SAME, "reads only"),
        ({"idempotent": True}, replace(SAME, again="sha256:c"), "idempotent"),
        ({}, replace(SAME, made_again=["thing.002"]), "name taken"),
    ],
)
def test_a_promise_about_state_is_held_against_the_calls(
    promise: dict[str, Any], point: TrialPoint, by: str
) -> None:
    assert [each for each, _ in told(examine(lambda _: point, replace(TOOL, **promise)))] == [by]


def test_a_restored_start_that_cannot_be_made_is_not_tried() -> None:
    unable = replace(OTHER, unable={RESTORED_START: "these tools act on no backend"})
    found = examine(lambda each: unable if RESTORED_START in each.varied else SAME)

    assert told(found) == []
    assert found.not_tried[RESTORED_START] == "these tools act on no backend"


SEEDED = replace(TOOL, determinism="seeded")
FIRST_SEED = ToolTrial("t", Case()).seed


def part(result: int) -> dict[str, Any]:
    call = {"tool": "p", "arguments": {}}
    return {"path": ["p"], "call": call, "seeded": True, "before": "", "after": "", "result": result}  # fmt: skip


def seeded(trial: ToolTrial, result: int, of_part: int) -> TrialPoint:
    return replace(SAME, envelope={"ok": True, "result": result}, parts=[part(of_part)])


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (lambda each: seeded(each, each.seed, each.seed), []),
        (lambda each: seeded(each, 1, each.seed), ["3 other seeds gave the same"]),
        (lambda each: seeded(each, each.seed, 1), ["its part p is seeded and gave the same"]),
        (
            lambda each: seeded(each, each.process * (each.seed - FIRST_SEED), 1),
            ["under another seed, result is 0; 1"],
        ),
        # One of three other seeds may draw alike.
        (lambda each: seeded(each, each.seed // 2, each.seed), []),
    ],
)
def test_another_seed_has_to_give_something_else(answer: Answer, expected: list[str]) -> None:
    assert [what for _, what in told(examine(answer, SEEDED))] == expected


@pytest.mark.parametrize(
    ("result", "after", "expected"),
    [
        (5, "sha256:b", []),
        (6, "sha256:b", ["a step by itself differs: p is 5; 6"]),
        (5, "sha256:c", ["its steps one by one leave another state"]),
    ],
)
def test_a_macro_is_what_its_steps_are(result: int, after: str, expected: list[str]) -> None:
    stepped = TrialPoint(after=after, steps=[{"ok": True, "result": result}])
    whole = replace(SAME, parts=[part(5)])
    found = examine(lambda each: stepped if each.steps else whole, replace(TOOL, is_macro=True))

    assert [what for _, what in told(found)] == expected
    assert "step by step" in found.laws


def test_results_within_a_tolerance_do_not_differ() -> None:
    near = replace(TOOL, tolerance=Abs(1.5, integers=True).to_json())

    assert find_difference(near, SAME, OTHER) == ""
    assert find_difference(TOOL, SAME, OTHER) == "result is 1; 2"


def test_failures_are_compared_by_their_codes() -> None:
    error = {"code": "conflict", "message": "No, /home/b."}
    elsewhere = replace(FAILED, envelope={"ok": False, "error": error})

    assert find_difference(TOOL, FAILED, elsewhere) == ""
    assert find_difference(TOOL, FAILED, SAME) == "conflict: No.; it gave a result"


def test_states_that_are_too_large_to_show_differ_by_their_fingerprints() -> None:
    assert "fingerprint differs" in find_difference(TOOL, SAME, replace(SAME, after="sha256:c"))
    one, other = (replace(SAME, after=name, state={"x": name}) for name in ("c", "d"))
    assert find_difference(TOOL, one, other) == "state['x'] is 'c'; 'd'"
