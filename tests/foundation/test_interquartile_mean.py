"""Claims about the interquartile mean and its bootstrap interval."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from twice.foundation.interquartile_mean import (
    bootstrap_interval,
    count_beyond,
    interquartile_mean,
)

FIRST = [0.35, 0.82, 0.33, -1.3, 0.91, 0.45, -0.54, 0.58, 0.36, 0.29]
FIRST += [0.03, 0.55, -0.74, -0.16, -0.48, 0.6, 0.04, -0.29, -0.78, -0.26]
LAST = [0.01, -0.28, 1.29, 1.01, -2.71, -1.89, -0.17, -0.42, 0.21, 0.22]
LAST += [2.12, -1.11, -0.38, 2.04, 0.65, 0.66, -0.51, -1.65, 0.17, 0.11]


def test_a_quarter_is_cut_from_each_end() -> None:
    assert interquartile_mean([100.0, 1.0, 2.0, 3.0, -100.0]) == 2.0
    assert interquartile_mean([5.0, 1.0, 2.0]) == pytest.approx(8 / 3)
    assert interquartile_mean([9.0, 1.0, 2.0, 0.0, 8.0, 3.0, 7.0, 4.0]) == 4.0


def test_the_interval_is_that_of_scipy_but_for_the_draws() -> None:
    """scipy 1.17.1: bootstrap with 100,000 resamples, percentile, at the expanded level."""
    low, high, error = bootstrap_interval(FIRST, LAST, alpha=0.05)

    assert low == pytest.approx(-0.599, abs=0.04)
    assert high == pytest.approx(0.411, abs=0.04)
    assert error == pytest.approx(0.2842, rel=0.05)


def test_the_interval_is_the_same_on_every_machine() -> None:
    low, high, _ = bootstrap_interval(FIRST, LAST, alpha=0.05)

    assert (low, high) == (-0.6020000000000001, 0.433)


values = st.lists(st.floats(-100, 100), min_size=4, max_size=9)


@given(values, values, st.randoms(use_true_random=False))
@settings(max_examples=20)  # a bootstrap each
def test_the_order_does_not_matter_and_the_sides_mirror_each_other(
    first: list[float], last: list[float], shuffler: random.Random
) -> None:
    low, high, error = bootstrap_interval(first, last, alpha=0.05)
    shuffled = list(first)
    shuffler.shuffle(shuffled)

    assert bootstrap_interval(shuffled, last, alpha=0.05) == (low, high, error)
    if sorted(first) != sorted(last):
        assert bootstrap_interval(last, first, alpha=0.05) == (-high, -low, error)


def test_a_level_that_the_resamples_do_not_reach_has_no_interval() -> None:
    low, high, _ = bootstrap_interval([1.0, 2.0, 3.0, 4.0], [2.0, 3.0, 4.0, 5.0], alpha=0.001)

    assert (low, high) == (-math.inf, math.inf)
    assert count_beyond(3, alpha=0.05) == 0
    assert [count_beyond(n, alpha=0.05) for n in (5, 30, 1000)] == [17, 83, 99]
