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


def vary(*names: str) -> Answer:
    """Give something else where all of these factors vary."""
    return lambda each: OTHER if {*names} <= {*each.varied} else SAME


def in_turn(*points: TrialPoint, asked: Answer) -> Answer:
    """Give points in turn where another answer is None, and otherwise that."""
    left = [*points]
    return lambda each: asked(each) or left.pop(0)  # type: ignore[redundant-expr]


REACHES_OUT = {
    "code": "nondeterministic_refused", "message": "No.",
    "details": {"need": "network", "operation": "socket.connect", "place": "a.py:3"},
}  # fmt: skip
UNSURE: Any = lambda each: OTHER if each.varied else None if each.process else SAME  # noqa: E731
ONCE: Any = lambda each: None if len(each.varied) > 1 else SAME  # noqa: E731


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (lambda _: SAME, []),
        (lambda each: OTHER if each.process else SAME, [("rerun", "result is 1; 2")]),
        (vary("umask"), [("umask", "result is 1; 2")]),
        (vary("umask", "locale"), [("locale + umask", "result is 1; 2")]),
        (
            lambda each: vary("hash seed")(each) if each.process else SAME,
            [("hash seed", "result is 1; 2")],
        ),
        (
            in_turn(OTHER, *[SAME] * 99, asked=ONCE),
            [("rerun", "everything perturbed at once differed, and not again")],
        ),
        (
            in_turn(SAME, OTHER, asked=UNSURE),
            [("rerun", "it differs now and then, with nothing perturbed")],
        ),
        (
            lambda _: TrialPoint(envelope={"ok": False, "error": REACHES_OUT}),
            [("enforcement", "it uses socket.connect")],
        ),
        (lambda _: FAILED, []),
        (lambda _: TrialPoint(lost="it took longer than 60 s"), []),
    ],
)
def test_a_factor_is_blamed_that_differs_alone_and_twice(
    answer: Answer, expected: list[tuple[str, str]]
) -> None:
    assert told(examine(answer)) == expected


def test_a_script_goes_as_far_as_its_points_allow() -> None:
    whole, differs = examine(lambda _: SAME), examine(lambda each: OTHER if each.process else SAME)
    stopped = examine(lambda _: TrialPoint(envelope={"ok": False, "error": REACHES_OUT}))

    assert (whole.perturbed, whole.laws) == ([*NAMES], ["name taken", RESTORED_START])
    assert differs.perturbed == ()
    assert (stopped.has_rerun, examine(lambda _: FAILED).failure) == (False, FAILED.failure)


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


FIRST_SEED = ToolTrial("t", Case()).seed


def give(result: int, of_part: int) -> TrialPoint:
    call = {"tool": "p", "arguments": {}}
    part = {"path": ["p"], "call": call, "seeded": True, "before": "", "after": "", "result": of_part}  # fmt: skip
    return replace(SAME, envelope={"ok": True, "result": result}, parts=[part])


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (lambda each: give(each.seed, each.seed), []),
        (lambda each: give(1, each.seed), ["3 other seeds gave the same"]),
        (lambda each: give(each.seed, 1), ["its part p is seeded and gave the same"]),
        (
            lambda each: give(each.process * (each.seed - FIRST_SEED), 1),
            ["under another seed, result is 0; 1"],
        ),
        # One of three other seeds may draw alike.
        (lambda each: give(each.seed // 2, each.seed), []),
    ],
)
def test_another_seed_has_to_give_something_else(answer: Answer, expected: list[str]) -> None:
    found = examine(answer, replace(TOOL, determinism="seeded"))

    assert [what for _, what in told(found)] == expected


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
    whole = give(1, 5)
    found = examine(lambda each: stepped if each.steps else whole, replace(TOOL, is_macro=True))

    assert [what for _, what in told(found)] == expected
    assert "step by step" in found.laws


NEAR = replace(TOOL, tolerance=Abs(1.5, integers=True).to_json())
ELSEWHERE = replace(
    FAILED, envelope={"ok": False, "error": {"code": "conflict", "message": "No, /home/b."}}
)


@pytest.mark.parametrize(
    ("tool", "one", "other", "words"),
    [
        (TOOL, SAME, OTHER, "result is 1; 2"),
        (NEAR, SAME, OTHER, ""),
        (TOOL, FAILED, ELSEWHERE, ""),
        (TOOL, FAILED, SAME, "conflict: No.; it gave a result"),
        (TOOL, SAME, replace(SAME, after="c"), "the state's fingerprint differs: sha256:b…, c…"),
        (
            TOOL, replace(SAME, after="c", state={"x": "c"}), replace(SAME, after="d", state={"x": "d"}),
            "state['x'] is 'c'; 'd'",
        ),
    ],
)  # fmt: skip
def test_a_difference_is_one_of_results_codes_and_states(
    tool: ToolDescription, one: TrialPoint, other: TrialPoint, words: str
) -> None:
    assert find_difference(tool, one, other) == words
