"""Claims about the distributions of test statistics: tables, scipy and laws."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twice.foundation.distributions import (
    binomial_tail,
    incomplete_beta,
    smirnov_tail,
    student_t_quantile,
    student_t_tail,
)


@pytest.mark.parametrize(
    ("t", "freedom", "tail"),
    [  # tables of Student's t: the quantile of each tail
        (6.3137515, 1, 0.05),
        (2.9199856, 2, 0.05),
        (1.8124611, 10, 0.05),
        (2.7637695, 10, 0.01),
        (1.6972609, 30, 0.05),
        (1.6602343, 100, 0.05),
    ],
)
def test_the_t_distribution_agrees_with_the_tables(t: float, freedom: int, tail: float) -> None:
    assert math.isclose(student_t_tail(t, freedom), tail, rel_tol=1e-6)
    assert math.isclose(student_t_tail(-t, freedom), 1 - tail, rel_tol=1e-6)


@pytest.mark.parametrize(
    ("chance", "freedom", "quantile"),
    [  # scipy 1.17.1, stats.t.isf
        (0.05, 4, 2.131846786326651),
        (0.1, 18, 1.330390943569909),
        (0.001, 7.5, 4.6303190940341015),
        (0.7, 3, -0.5843897274398182),
    ],
)
def test_a_quantile_is_that_of_scipy(chance: float, freedom: float, quantile: float) -> None:
    assert math.isclose(student_t_quantile(chance, freedom), quantile, rel_tol=1e-10)


@pytest.mark.parametrize(
    ("steps", "n", "tail"),
    [  # scipy 1.17.1, stats.ks_2samp(method="exact")
        (5, 10, 0.16782134274394334),
        (3, 30, 0.9988393756362763),
        (9, 30, 0.13500350250095441),
        (20, 100, 0.03638428787491733),
    ],
)
def test_the_distance_of_equal_samples_has_the_exact_tail(steps: int, n: int, tail: float) -> None:
    assert math.isclose(smirnov_tail(steps, n), tail, rel_tol=1e-10)


@pytest.mark.parametrize(
    ("count", "trials", "chance", "tail"),
    [  # scipy 1.17.1, stats.binom.cdf
        (3, 10, 0.5, 0.171875),
        (12, 20, 0.65, 0.3989733953968361),
        (60, 100, 0.7, 0.020988576003924744),
        (10, 10, 0.3, 1.0),
        (-1, 10, 0.3, 0.0),
    ],
)
def test_a_binomial_tail_is_that_of_scipy(
    count: int, trials: int, chance: float, tail: float
) -> None:
    assert math.isclose(binomial_tail(count, trials, chance), tail, rel_tol=1e-10)


@given(st.integers(1, 40), st.data())
def test_a_distance_is_exceeded_less_often_than_a_smaller_one(n: int, data: st.DataObject) -> None:
    steps = data.draw(st.integers(0, n))

    assert 0 <= smirnov_tail(steps + 1, n) <= smirnov_tail(steps, n) + 1e-12 <= 1 + 1e-12
    assert smirnov_tail(0, n) == 1
    assert smirnov_tail(n + 1, n) == 0


@given(st.floats(0.5, 50), st.floats(0.5, 50), st.floats(0.01, 0.99))
def test_the_beta_function_is_its_own_mirror(a: float, b: float, x: float) -> None:
    assert math.isclose(incomplete_beta(a, b, x) + incomplete_beta(b, a, 1 - x), 1, rel_tol=1e-9)


@given(st.floats(0.01, 0.99))
def test_the_beta_function_is_known_where_it_is_simple(x: float) -> None:
    assert math.isclose(incomplete_beta(1, 3, x), 1 - (1 - x) ** 3, rel_tol=1e-10)
    assert math.isclose(
        incomplete_beta(0.5, 0.5, x), 2 / math.pi * math.asin(math.sqrt(x)), rel_tol=1e-10
    )
