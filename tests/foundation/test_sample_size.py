"""Claims about the power of a sample, which is known before the runs."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from twice.errors import ClassRefused
from twice.foundation.determinism_class import SampleTest, Summary
from twice.foundation.sample_size import (
    count_seeds,
    describe_power,
    describe_reached,
    power_of,
    require_decidable,
)
from twice.foundation.two_sample_tests import ks_within, ranks_within

SHAPES = [SampleTest.KS, SampleTest.MANN_WHITNEY]
LOCATIONS = [SampleTest.MEAN, SampleTest.IQM]


def test_the_number_of_seeds_agrees_with_the_textbook() -> None:
    """Chow, Shao and Wang: margin 0.05, deviation 0.1 needs 69 each by normal quantiles; Student's take one more."""
    assert count_seeds(Summary("x", epsilon=0.05), deviation=0.1) == 70


@given(
    st.sampled_from(SHAPES + LOCATIONS),
    st.floats(0.05, 0.4),
    st.floats(0.01, 0.2),
    st.floats(0.5, 0.95),
)
@settings(max_examples=30)
def test_the_number_of_seeds_has_the_declared_power(
    test: SampleTest, epsilon: float, alpha: float, power: float
) -> None:
    summary = Summary("x", test, epsilon, power=power, alpha=alpha)

    needed = count_seeds(summary, deviation=0.7)

    assert needed is not None
    assert power_of(summary, needed, deviation=0.7) >= power
    assert power_of(summary, max(2, needed // 2), deviation=0.7) < power


@pytest.mark.parametrize("test", SHAPES)
@pytest.mark.parametrize(("n", "epsilon"), [(20, 0.3), (60, 0.3)])
def test_equal_systems_pass_as_often_as_the_power_says(
    test: SampleTest, n: int, epsilon: float
) -> None:
    draw, summary = random.Random(1), Summary("x", test, epsilon)
    judge = ks_within if test is SampleTest.KS else ranks_within
    pairs = [[[draw.random() for _ in range(n)] for _ in "ab"] for _ in range(400)]
    passed = [judge(*pair, epsilon=epsilon).agrees for pair in pairs]

    assert math.isclose(passed.count(True) / 400, power_of(summary, n), abs_tol=0.08)


@pytest.mark.parametrize(
    ("summary", "said"),
    [
        (Summary("x", SampleTest.KS, 0.1, 30), "Give --n 715"),
        (Summary("x", SampleTest.MANN_WHITNEY, 0.1, 30), "Give --n 188"),
        (Summary("x", SampleTest.IQM, 1.0, 3), "Give --n 4"),
        (Summary("x", SampleTest.IQM, 1.0, 5, alpha=0.01), "Give --n 8, or a larger --alpha"),
        (Summary("x", SampleTest.IQM, 1.0, 50, alpha=1e-6), "Give a larger --alpha"),
        (Summary("x", SampleTest.KS, 1e-9, 30), "Give a larger --epsilon"),
        (Summary("x", SampleTest.KS, 1.0), "a margin below 1"),
        (Summary("x", SampleTest.MANN_WHITNEY, 0.5), "a margin below 0.5"),
        (Summary("x", epsilon=1.0, alpha=0.6), "at most 0.5"),
    ],
)
def test_a_sample_that_can_never_pass_or_never_fail_is_refused_with_what_would_do(
    summary: Summary, said: str
) -> None:
    with pytest.raises(ClassRefused) as refused:
        require_decidable(summary)

    assert said in str(refused.value)


@pytest.mark.parametrize("test", list(SampleTest))
def test_a_usual_sample_is_accepted_and_describes_its_power(test: SampleTest) -> None:
    summary = Summary("reward", test, 0.3, 40)

    require_decidable(summary)

    assert describe_power(summary).startswith(f"40 seeds each, {test.value}")


def test_the_power_is_said_with_the_deviation_that_it_is_good_for() -> None:
    summary = Summary("reward", epsilon=0.5, n=30)
    said = describe_power(summary)

    assert said.endswith("with chance 0.8 if the standard deviation of 'reward' is at most 0.652")
    assert power_of(summary, 30, deviation=0.652) == pytest.approx(0.8, abs=0.01)


def test_a_first_sample_says_what_it_can_tell_before_the_second() -> None:
    draw = random.Random(1)
    values: list[float | None] = [draw.gauss(0, 2) for _ in range(30)]
    summary = Summary("x", epsilon=0.5, n=30)

    assert "equal systems pass with chance 0; 0.8 takes" in describe_reached(summary, values)
    values[3:6] = math.nan, 1.7e308, None
    assert describe_reached(summary, values).startswith("3 of 30 seeds gave no finite number")
    assert describe_reached(Summary("x", SampleTest.KS, 0.3), [1.0, 2.0]) == ""
