"""What sheets and evidence say together, and what each check makes of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from breaks import nothing
from gatefacts import (
    BLOCKED,
    ENDS,
    FAIL,
    HERE,
    NA,
    PASS,
    RAINED,
    Change,
    changed,
    ended,
    failed,
    given,
    good_evidence,
    good_heads,
    judged,
    replayed,
    reports,
    varied,
)
from gatesystems import Heads

from twice.specification.gate.evidence.runs import KnownRun, RestoredSnapshots
from twice.specification.gate.model import CheckOutcome

NO_GPU = {"told": True, "reached": [], "driver": "", "cards": [], "switches": {}}


def good(_: dict[str, Any]) -> dict[str, Any]:
    return {}


def said(number: str, **values: Any) -> Callable[[Heads], None]:
    return lambda heads: heads[number].update(values)


def with_traits(*names: str, here: bool) -> Callable[[Heads], None]:
    """Say of some traits, or of all, whether the system has them."""

    def change(heads: Heads) -> None:
        for row in heads["00"]["traits"]:
            row["here"] = here if row["name"] in names or not names else row["here"]

    return change


def recorded_schedule(heads: Heads) -> None:
    heads["07"]["subsystems"][0]["strategy"] = "recorded-schedule"
    heads["07"]["trace_format"] = "one line for each turn"


def asyncio(strategy: str) -> Callable[[Heads], None]:
    def change(heads: Heads) -> None:
        heads["07"]["subsystems"][0].update(name="asyncio", strategy=strategy)
        heads["07"]["trace_format"] = "the order in the record"

    return change


def order_kept(
    strategy: str = "recorded", grade: str = "B2", *, is_torn: bool = False, **other: Any
) -> Callable[[dict[str, Any]], dict[str, Any]]:
    sealed = replayed(
        concurrency={"asyncio": {"strategy": strategy, "grade": grade}}, is_torn=is_torn
    )
    return given(sealed=sealed, **other)


def accepted(place: str) -> Callable[[Heads], None]:
    return said("03", shared=[{"stream": place, "owners": ["herd", "weather"], "why": "a plot"}])


MOVED = KnownRun(ENDS, "src/herd.py:main", 4, changed=("src/herd.py differs",))
CUDA = {"dropout": {"kind": "torch-cuda", "draws": 1, "seed": "0x5"}}
CARD = {**NO_GPU, "reached": ["torch"], "driver": "570.1", "cards": ["one card"]}
FROM_TOP = ({"cadence": "none"}, {"strategy": "event-sourced"})
TASKS = {"main/task/task": 2}
NO_CONCURRENCY = (
    "by sheet 00 the system has no concurrency: looked at: concurrency; and the trial started none"
)
JUDGED: list[tuple[int, str, Callable[[Heads], None], Change, CheckOutcome, str]] = [
    # A shared generator that is accepted is green.
    (4, "M", accepted("src/herd.py"), changed("code", shared=(HERE,)), PASS, "1 accepted"),
    (4, "M", accepted("src/herd.py:jitter"), changed("code", shared=(HERE,)), PASS, "1 accepted"),
    (5, "M", said("04", components=[{"name": "herd"}, {"name": "flock"}]), good, FAIL, "'flock' names nothing; the trial tracks herd, weather"),
    # Snapshots that stand before the first tick alone show nothing; what keeps none has to replay from the top.
    (5, "M", nothing, given(restored=RestoredSnapshots(1, (), (), 0)), BLOCKED, "no snapshot of the trial stands after its first tick"),
    *((5, "M", said("04", **each), given(sealed=replayed()), PASS, "executed from the top") for each in FROM_TOP),
    *((5, "M", said("04", **each), given(sealed=replayed(failed("tick", 1))), FAIL, "executing from the top gives FAIL at tick of tick 1") for each in FROM_TOP),
    *((5, "M", said("04", **each), given(sealed=RAINED), BLOCKED, "no replay from the top: it rained") for each in FROM_TOP),
    # A fault in a sheet is told though evidence is missing.
    (6, "M", said("05", retention="?"), given(planted=RAINED), FAIL, "retention is unknown"),
    (8, "M", nothing, changed("code", reported=()), PASS, "twice check reports nothing in src"),
    # The program of a vector is not executed when its code moved.
    (10, "M", nothing, given(vector=MOVED), FAIL, "other code: src/herd.py differs; record it anew, and say its digest in 01: twice record"),
    # What a library starts and one task alone are no concurrency.
    *((11, "M", nothing, ended(lineages=each), NA, NO_CONCURRENCY) for each in ({"main/inner": 3}, {"main/task": 3}, {})),
    # More branches than can be open are a promise that nobody keeps.
    (7, "M", said("06", branches=8), good, PASS, "step"),
    (7, "M", said("06", branches=20), good, FAIL, "20 may be open at once, and twice opens 8 at most"),
    # Below its tier a schedule that decides is red without its sheet.
    (11, "S", with_traits("concurrency", here=True), ended(lineages=TASKS), PASS, "the same by another task order, which is not every schedule"),
    (11, "S", with_traits("concurrency", here=True), lambda it: {**ended(lineages=TASKS)(it), **varied(task_order="differs")}, FAIL, "no sheet says what decides the order"),
    (11, "L", recorded_schedule, given(varied=()), FAIL, "walkers is declared recorded-schedule, and the trial's record has no order of it"),
    (11, "L", asyncio("recorded-schedule"), order_kept(varied=()), PASS, "asyncio is recorded (grade B2) in the trial"),
    (11, "L", asyncio("recorded-schedule"), given(varied=()), FAIL, "the trial's record has no order of it"),
    (11, "L", asyncio("recorded-schedule"), order_kept(varied=(), is_torn=True), FAIL, "has a part of its order alone"),
    (11, "L", asyncio("recorded-schedule"), order_kept("uncontrolled", "X", varied=()), FAIL, "has uncontrolled (grade X), which is weaker"),
    (11, "L", asyncio("lockstep"), order_kept(), FAIL, "has recorded (grade B2), which is weaker"),
    (11, "L", asyncio("schedule-independent"), order_kept(), PASS, "asyncio is recorded (grade B2)"),
    (11, "L", asyncio("schedule-independent"), order_kept(**varied(task_order="differs")), FAIL, "asyncio hang on no schedule"),
    (12, "M", with_traits("floating-point", here=False), changed("trial", floats="", snapshots=0), BLOCKED, "no snapshot that would show"),
    # A run with other threads shows nothing of the order within a sum, and exact bits have no tolerance.
    (12, "L", nothing, good, PASS, "sums are stated as sequential; with another number of threads they are the same"),
    (12, "L", said("08", epsilon="1e-3"), good, FAIL, "is stated, and the class bit-exact has none"),
    # Other instructions are asked of a promise that reaches other hosts.
    (12, "L", said("01", scope="cross-host"), good, BLOCKED, "no other instructions could be tried"),
    (12, "L", said("01", scope="cross-host"), given(**varied(libm="differs", cpu_features="same")), FAIL, "with other libm the run differs"),
    # Code that needs a GPU speaks against its absence.
    (13, "M", nothing, reports("warn-only"), FAIL, "by sheet 00 nothing runs on a GPU, and twice check reports src/herd.py:3"),
    (14, "M", with_traits("external-effects", here=False), ended(asked={}), FAIL, "is said to ask nothing, and determinism-and-replay/10-"),
    (15, "XL", said("11", hash="xxh3_128"), good, FAIL, "xxh3_128 can be made to collide"),
    (16, "M", nothing, changed("suite", skipped=("tests/a.py::test_x",)), BLOCKED, "1 test was skipped or expected to fail: tests/a.py::test_x"),
    # What is said to be absent and was seen is red, and not n/a.
    (11, "L", with_traits("concurrency", here=False), ended(lineages={"main/job": 2}), FAIL, "by sheet 00"),
    (12, "L", with_traits("floating-point", here=False), good, FAIL, "by sheet 00"),
    (13, "L", with_traits("gpu", here=False), ended(streams=CUDA), FAIL, "by sheet 00"),
    (13, "L", with_traits("gpu", here=False), good, FAIL, "by sheet 00"),
    (14, "M", with_traits("external-effects", here=False), good, FAIL, "is said to ask nothing"),
    # What a run does not show is blocked, and an absence that no run could speak against.
    (11, "L", nothing, ended(lineages=None), BLOCKED, "does not say what it started"),
    (11, "L", nothing, ended(lineages={"main/task": 3}), BLOCKED, "the trial started none, so nothing is told of tasks"),
    (13, "L", nothing, ended(gpu={"told": False}), BLOCKED, "does not say whether a GPU was reached"),
    (13, "L", nothing, ended(gpu=NO_GPU), BLOCKED, "the trial reached no GPU"),
    (13, "L", nothing, ended(gpu=CARD), BLOCKED, "nothing reads torch.use"),
    *((number, "L", with_traits(here=False), given(trial=RAINED), BLOCKED, "it rained") for number in (11, 12, 13)),
]  # fmt: skip


@pytest.mark.parametrize(("number", "tier", "sheets", "change", "outcome", "words"), JUDGED)
def test_what_sheets_and_evidence_say_together_is_judged(
    tmp_path: Path, number: int, tier: str, sheets: Callable[[Heads], None], change: Change,
    outcome: CheckOutcome, words: str,
) -> None:  # fmt: skip
    heads = good_heads(tier)
    sheets(heads)

    found = judged(tmp_path, number, tier, heads=heads, **change(good_evidence(good_heads(tier))))

    assert found.outcome is outcome, found
    assert words in "; ".join([found.reason, *found.evidence])
    assert (outcome is PASS) is (found.reason == "")
