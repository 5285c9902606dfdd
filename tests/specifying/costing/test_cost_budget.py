"""Figures, budgets and texts, on figures that were made up."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from madecosts import made_cost, took

from twice.specifying.costing.budget import Culprit, judge
from twice.specifying.costing.figures import Spread, added

CULPRITS = [
    Culprit("snapshots", "04", Spread(20, 18, 22)),
    Culprit("hash seed", "10", Spread(30, -5, 60)),
    Culprit("compare-points", "05", Spread(25, 20, 28)),
]


@pytest.mark.parametrize(
    ("budget", "spread", "result", "code"),
    [
        (None, Spread(900, 800, 1000), "no-budget", 0),
        (50, Spread(40, 30, 50), "inside", 0),
        (0, Spread(-3, -5, 0), "inside", 0),
        (50, Spread(60, 51, 70), "breach", 1),
        (50, Spread(60, 50, 70), "unknown", 2),
        (50, Spread(40, 30, 51), "unknown", 2),
    ],
)
def test_a_budget_is_judged_by_the_whole_spread(
    budget: int | None, spread: Spread, result: str, code: int
) -> None:
    judged = judge(budget, spread, CULPRITS)

    assert (judged.result, judged.exit_code) == (result, code)


def test_what_cannot_be_told_says_how_wide_the_spread_is() -> None:
    judged = judge(50, Spread(45, 30, 70), CULPRITS)

    assert "spread of 40.0 points is too wide for a difference of 5.0" in judged.why


def test_a_breach_names_the_rule_that_costs_most_and_its_sheet() -> None:
    judged = judge(10, Spread(80, 70, 90), CULPRITS)

    assert judged.culprit == CULPRITS[2], "the hash seed's cost is not told from none"
    assert "compare-points costs most" in judged.why
    assert "sheet 05 answers" in judged.why


def test_a_breach_without_rules_names_none() -> None:
    assert judge(10, Spread(80, 70, 90), []).culprit is None


def test_a_program_that_is_too_short_is_not_judged() -> None:
    assert judge(50, Spread(1, 1, 1), CULPRITS, too_short=True).result == "unknown"
    assert judge(None, Spread(1, 1, 1), CULPRITS, too_short=True).result == "no-budget"


@pytest.mark.parametrize(
    ("spread", "said"),
    [
        (Spread(-3, -9, 4), "not measurable, within the spread (-9.0 to +4.0 %)"),
        (Spread(-3, -9, 0), "not measurable, within the spread (-9.0 to +0.0 %)"),
        (Spread(3, -9, 4), "+3.0 % (-9.0 to +4.0)"),
        (Spread(-3, -9, -1), "-3.0 % (-9.0 to -1.0)"),
        (Spread(-3, -3, -3), "-3.0 %"),
    ],
)
def test_a_cost_below_nothing_within_its_spread_is_not_measurable(
    spread: Spread, said: str
) -> None:
    assert spread.to_cost(1, "%") == said


@pytest.mark.parametrize(
    ("budget", "why"),
    [
        (None, "what recording adds is not measurable, within the spread (-9.0 to +4.0 %); no budget is declared"),
        (50, "what recording adds is not measurable, within the spread (-9.0 to +4.0 %), below a budget of 50 %"),
    ],
)  # fmt: skip
def test_a_judgement_says_so_too(budget: int | None, why: str) -> None:
    assert judge(budget, Spread(-3, -9, 4), CULPRITS).why == why


def test_differences_are_taken_round_by_round() -> None:
    on, off, bare = [took(3, 100), took(6, 130)], [took(2, 90), took(4, 90)], [took(1), took(2)]
    found = added(on, off, bare)

    assert found.wall_s == Spread(1.5, 1, 2)
    assert found.wall_percent == Spread(100, 100, 100), "each round by the bare run of that round"
    assert found.size == Spread(25, 10, 40)


samples = st.lists(st.floats(1e-3, 1e3), min_size=2, max_size=9)


@given(samples)
def test_a_median_lies_within_its_spread(seconds: list[float]) -> None:
    spread = Spread.of(seconds)

    assert spread.lowest <= spread.median <= spread.highest


@given(samples, st.integers(0, 10_000))
def test_a_budget_is_judged_in_one_way(seconds: list[float], budget: int) -> None:
    bare = [took(1.0) for _ in seconds]
    percent = added([took(each) for each in seconds], bare, bare).wall_percent
    judged = judge(budget, percent, [])

    inside = percent.highest <= budget
    beyond = percent.lowest > budget
    assert judged.result == ("inside" if inside else "breach" if beyond else "unknown")


def test_a_bare_run_that_takes_no_time_has_finite_percentages() -> None:
    nothing = [took(0.0)] * 2

    assert math.isfinite(added([took(1.0)] * 2, nothing, nothing).wall_percent.median)


def test_the_document_is_the_same_bytes_and_says_what_the_gate_reads() -> None:
    document = made_cost().to_json()

    assert json.dumps(document) == json.dumps(made_cost().to_json())
    assert document["total_percent"] == 100.0
    (row,) = document["rules"]
    assert row["rule"] == "snapshots"
    assert row["performance"] == "+50.0 % wall, +50.0 % CPU"
    assert row["storage"] == "+1,000 bytes"


def test_the_first_line_answers() -> None:
    lines = made_cost(budget_percent=10).to_text().splitlines()

    assert lines[0].startswith("BREACH: +100.0 % of a budget of 10 %; snapshots costs most")
    assert made_cost(budget_percent=200).to_text().startswith("INSIDE: ")
    assert made_cost().to_text().startswith("MEASURED: ")
