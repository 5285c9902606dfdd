"""Claims about what is reported of a sweep, from outcomes alone."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twice.errors import ConfigKeyUnused, ProgramFailed, SampleMissing, TwiceError
from twice.foundation.seeds import Seed
from twice.recorder.environment.surroundings import Surroundings
from twice.recorder.program import Program
from twice.recorder.setup import Setup
from twice.runs.causes import FailureCause
from twice.runs.sweep import Sweep, parse_grid
from twice.runs.sweep_report import LOST, SummaryOptions, SweepReport
from twice.runs.sweep_run import RunOutcome

VALUE = FailureCause("raised", "ValueError", "p.py", 3, "main")
WELL = RunOutcome("completed")
RAISED = RunOutcome("exception", VALUE)
DIFFERS = RunOutcome("completed", FailureCause("differs", "x", "p.py", 9, "main"), result="FAIL")
UNKNOWN = RunOutcome("completed", result="UNKNOWN")
GONE = RunOutcome(LOST, FailureCause("died", "the worker died"))
REWARD = SummaryOptions("reward")


def report_of(
    *outcomes: RunOutcome,
    pairs: tuple[str, ...] = (),
    summary: SummaryOptions = SummaryOptions(),
    order: list[int] | None = None,
) -> SweepReport:
    setup = Setup(Program("function", "p.py", "main", "/x"), Seed(7))
    grid = parse_grid(pairs)
    sweep = Sweep(setup, Surroundings(), grid, 1)
    sweep = Sweep(setup, Surroundings(), grid, max(1, len(outcomes) // len(sweep.arms)))
    report = SweepReport(sweep, Path("folder"), summary)
    for number in order if order is not None else range(len(outcomes)):
        report.add(sweep[number], outcomes[number])
    return report


def rewards(values: list[float]) -> list[RunOutcome]:
    return [RunOutcome("completed", summaries={"reward": value}) for value in values]


_draw = Random(4).gauss
NORMAL = [_draw(10, 1) for _ in range(60)]


@given(st.permutations(range(60)))
def test_a_report_is_the_same_whatever_ended_first(order: list[int]) -> None:
    outcomes = [RAISED if at % 7 == 3 else one for at, one in enumerate(rewards(NORMAL))]
    for summary in (REWARD, SummaryOptions("reward", 1.5)):
        plain = report_of(*outcomes, summary=summary).to_json()

        assert report_of(*outcomes, summary=summary, order=order).to_json() == plain


def test_an_arm_stops_at_the_first_seed_at_which_its_interval_is_narrow_enough() -> None:
    report = report_of(*rewards(NORMAL), summary=SummaryOptions("reward", 2.5))

    told = report.to_json()["arms"][0]["summary"]
    assert report.is_decided
    assert told["n"] == report.runs < 60
    assert told["high"] - told["low"] <= 2.5
    before = report_of(*rewards(NORMAL[: told["n"] - 1]), summary=SummaryOptions("reward", 2.5))
    assert not before.is_decided
    assert before.exit_code == 2


def test_without_a_width_all_seeds_count_and_the_interval_is_students() -> None:
    told = report_of(*rewards(NORMAL[:5]), RAISED, summary=REWARD).to_json()["arms"][0]["summary"]

    mean = math.fsum(NORMAL[:5]) / 5
    deviation = math.sqrt(sum((one - mean) ** 2 for one in NORMAL[:5]) / 4)
    assert (told["n"], told["missing"], told["interval"]) == (5, 1, "student-t")
    assert told["mean"] == pytest.approx(mean)
    assert told["deviation"] == pytest.approx(deviation)
    assert told["high"] - mean == pytest.approx(2.776445 * deviation / math.sqrt(5))


def test_values_that_are_no_finite_numbers_are_counted_as_missing() -> None:
    told = report_of(*rewards([1.0, math.nan, math.inf, 2.0]), summary=REWARD).to_json()

    assert (told["arms"][0]["summary"]["n"], told["arms"][0]["summary"]["missing"]) == (2, 2)


@pytest.mark.parametrize(
    ("outcomes", "code"),
    [
        ([WELL, WELL], 0),
        ([WELL, RAISED], 1),
        ([RAISED, GONE], 1),
        ([DIFFERS, UNKNOWN], 1),
        ([WELL, UNKNOWN], 2),
        ([WELL, GONE], 2),
        ([RunOutcome("completed", result="PASS"), RunOutcome("completed", result="PASS")], 0),
    ],
)
def test_a_failure_counts_for_more_than_what_nobody_could_tell(
    outcomes: list[RunOutcome], code: int
) -> None:
    assert report_of(*outcomes).exit_code == code


UNLOADED = RunOutcome("exception", VALUE, unloaded="ModuleNotFoundError: No module named 'x'")


@pytest.mark.parametrize(
    ("outcomes", "error", "why"),
    [
        ([UNLOADED, UNLOADED], ProgramFailed, "cannot be loaded: ModuleNotFoundError"),
        ([replace(one, unread=("lr",)) for one in rewards([1.0, 2.0])], ConfigKeyUnused, "never read the configuration key lr"),
        ([WELL, WELL], SampleMissing, "reported no summary 'reward'"),
    ],
)  # fmt: skip
def test_what_concerns_every_run_is_one_error(
    outcomes: list[RunOutcome], error: type[TwiceError], why: str
) -> None:
    with pytest.raises(error, match=why):
        report_of(*outcomes, pairs=("lr=1,2",), summary=REWARD)


def test_a_key_that_one_arm_reads_is_known_and_a_later_import_is_a_failure_like_others() -> None:
    unread = RunOutcome("completed", unread=("beta",))

    report = report_of(unread, RunOutcome("completed"), UNLOADED, WELL, pairs=("beta=1,2",))

    assert report.is_loaded
    assert report.failures == 1


def test_the_first_line_answers_and_each_cause_comes_with_a_command() -> None:
    lines = [*report_of(WELL, RAISED, DIFFERS, RAISED, pairs=("lr=1,2",)).to_lines()]

    assert lines == [
        "4 runs: 2 completed, 2 exception; 3 failed, 2 causes",
        "verified: 1 FAIL",
        "  lr=1: 2 runs, 1 failed",
        "  lr=2: 2 runs, 2 failed",
        "  2: ValueError at p.py:3 in main (lr=2 2)",
        "      twice show folder/0000-lr=2.twice",
        "  1: differs first at p.py:9, x (lr=1 1)",
        "      twice verify folder/0001-lr=1.twice --diagnose",
        "next: twice show folder/0000-lr=2.twice",
    ]


def test_the_line_of_a_number_says_its_interval_and_what_is_missing() -> None:
    lines = [*report_of(*rewards(NORMAL[:5]), RAISED, summary=REWARD).to_lines()]

    assert lines[1].startswith("  reward 10.2647 [9.62495, 10.9045] at 95%, deviation 0.515, ")
    assert lines[1].endswith("5 values, 1 without one")


def test_the_document_of_a_run_that_left_no_record_names_none() -> None:
    refused = RunOutcome("refused", FailureCause("refused", "E-TICK-001"))

    told: dict[str, Any] = report_of(WELL, refused).to_json()

    assert told["causes"][0]["record"] is None
    assert told["next"] == [
        {"action": "list the records", "sheet": "", "command": "twice ls folder", "checks": []}
    ]
