"""Claims about when two samples agree, differ, or cannot tell."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twice.foundation.determinism_class import SampleTest, Summary
from twice.foundation.two_sample_tests import (
    apply_test,
    incomplete_beta,
    ks_distance,
    ks_size_needed,
    ks_within,
    means_apart,
    means_within,
    multisets_same,
    sample_size_needed,
    student_t_tail,
)

FINITE = st.floats(-1e6, 1e6)


def normals(seed: int, count: int, mean: float = 0.0) -> list[float]:
    draw = random.Random(seed)
    return [draw.gauss(mean, 1.0) for _ in range(count)]


@given(st.lists(FINITE, min_size=1, max_size=20), st.sampled_from(list(SampleTest)))
def test_the_very_same_numbers_always_agree(values: list[float], test: SampleTest) -> None:
    found = apply_test(Summary("x", test), values, list(values))

    assert found.agrees is True
    assert found.identical


@given(
    st.lists(st.tuples(FINITE, FINITE), min_size=2, max_size=20),
    st.sampled_from(list(SampleTest)),
    st.floats(0, 10) | st.just(5e-324),
)
def test_it_does_not_matter_which_side_is_the_record(
    pairs: list[tuple[float, float]], test: SampleTest, epsilon: float
) -> None:
    first, last = (list(each) for each in zip(*pairs, strict=True))
    summary = Summary("x", test, epsilon)

    assert apply_test(summary, first, last).agrees is apply_test(summary, last, first).agrees


@pytest.mark.parametrize(
    ("test", "count", "shift", "expected"),
    [
        (SampleTest.MEAN, 200, 0.0, True),
        (SampleTest.MEAN, 200, 3.0, False),
        (SampleTest.MEAN, 4, 0.0, None),
        (SampleTest.KS, 200, 0.0, True),
        (SampleTest.KS, 200, 3.0, False),
        (SampleTest.KS, 3, 0.0, None),
    ],
)
def test_enough_values_tell_and_few_do_not(
    test: SampleTest, count: int, shift: float, expected: bool | None
) -> None:
    summary = Summary("x", test, epsilon=0.5 if test is SampleTest.MEAN else 0.25)

    found = apply_test(summary, normals(1, count), normals(2, count, shift))

    assert found.agrees is expected
    assert found.needed is not None
    assert (count < found.needed) is (expected is None)


def test_a_difference_that_shows_in_few_values_is_a_difference() -> None:
    found = apply_test(Summary("x", epsilon=0.1), normals(1, 5), normals(2, 5, 50.0))

    assert found.agrees is False


@pytest.mark.parametrize("test", [SampleTest.MEAN, SampleTest.KS])
@pytest.mark.parametrize("epsilon", [0.0, 5e-324])
def test_without_a_margin_only_equality_agrees(test: SampleTest, epsilon: float) -> None:
    values = normals(1, 50)

    found = apply_test(Summary("x", test, epsilon), values, [value + 0.01 for value in values])

    assert found.agrees is None
    assert found.needed is None


def test_a_multiset_ignores_the_order_and_nothing_else() -> None:
    summary = Summary("x", SampleTest.MULTISET)

    assert apply_test(summary, [1.0, 2.0], [2.0, 1.0]).agrees is True
    assert apply_test(summary, [1.0, 2.0], [2.0, 2.0]).agrees is False


def test_a_seed_that_falls_silent_on_one_side_is_a_difference() -> None:
    found = apply_test(Summary("x", epsilon=1.0), [1.0, 2.0, 3.0], [1.0, None, 3.0])

    assert found.agrees is False
    assert "first seed 1" in found.reason


@pytest.mark.parametrize("odd", [None, float("nan"), float("inf")])
def test_what_is_no_number_on_both_sides_cannot_be_told(odd: float | None) -> None:
    assert apply_test(Summary("x", epsilon=1.0), [1.0, odd], [1.0, odd]).agrees is None


def test_so_many_values_pass_equal_distributions_as_often_as_declared() -> None:
    needed = ks_size_needed(epsilon=0.3, power=0.8)
    summary = Summary("x", SampleTest.KS, epsilon=0.3)
    passed = [
        apply_test(summary, normals(2 * at, needed), normals(2 * at + 1, needed)).agrees
        for at in range(300)
    ]

    assert 0.75 <= passed.count(True) / 300 <= 0.95


def test_constants_are_apart_by_what_they_are_apart() -> None:
    assert means_apart([1.0, 1.0], [2.0, 2.0], epsilon=0.5)
    assert not means_apart([1.0, 1.0], [2.0, 2.0], epsilon=1.0)
    assert not means_apart([1.0], [2.0], epsilon=0.5)


samples = st.lists(st.floats(-100, 100), min_size=2, max_size=12)


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
def test_the_t_distribution_agrees_with_the_tables(t, freedom, tail):
    assert math.isclose(student_t_tail(t, freedom), tail, rel_tol=1e-6)
    assert math.isclose(student_t_tail(-t, freedom), 1 - tail, rel_tol=1e-6)


@given(st.floats(0.5, 50), st.floats(0.5, 50), st.floats(0.01, 0.99))
def test_the_beta_function_is_its_own_mirror(a, b, x):
    assert math.isclose(incomplete_beta(a, b, x) + incomplete_beta(b, a, 1 - x), 1, rel_tol=1e-9)


@given(st.floats(0.01, 0.99))
def test_the_beta_function_is_known_where_it_is_simple(x):
    assert math.isclose(incomplete_beta(1, 3, x), 1 - (1 - x) ** 3, rel_tol=1e-10)
    assert math.isclose(
        incomplete_beta(0.5, 0.5, x), 2 / math.pi * math.asin(math.sqrt(x)), rel_tol=1e-10
    )


@given(samples, samples, st.randoms(use_true_random=False))
def test_the_order_of_a_sample_changes_no_verdict(first, last, shuffler):
    shuffled = list(first)
    shuffler.shuffle(shuffled)

    assert means_within(first, last, epsilon=1) == means_within(shuffled, last, epsilon=1)
    assert ks_within(first, last, epsilon=0.2) == ks_within(shuffled, last, epsilon=0.2)
    assert multisets_same(first, shuffled).agrees is True


@given(samples, samples)
def test_the_ks_distance_is_the_largest_gap(first, last):
    def share(sample: list, x: float) -> float:
        return sum(value <= x for value in sample) / len(sample)

    expected = max(abs(share(first, x) - share(last, x)) for x in first + last)

    assert ks_distance(first, last) == expected


def test_means_agree_only_where_the_margin_is_shown():
    first = [10.0, 10.2, 9.8, 10.1, 9.9] * 6

    assert means_within(first, first, epsilon=0.2).agrees is True
    assert means_within(first, [x + 0.5 for x in first], epsilon=0.2).agrees is False
    few = means_within(first[:2], first[:2], epsilon=0.2)
    assert few.agrees is False
    assert few.statistic > 0.05


def test_a_welch_test_by_hand_gives_the_same_p_value():
    first, last = [1.0, 2.0, 3.0, 4.0], [2.0, 3.0, 4.0, 5.0]
    error = math.sqrt(2 * (5 / 3) / 4)
    expected = student_t_tail((3 - 1) / error, 6)

    assert math.isclose(means_within(first, last, epsilon=3).statistic, expected)


def test_what_cannot_be_told_is_not_a_pass():
    assert means_within([1.0], [1.0, 2.0], epsilon=9).agrees is None
    assert ks_within([], [1.0], epsilon=1).agrees is None
    assert multisets_same([math.nan], [math.nan]).agrees is None


def test_constant_samples_are_judged_by_their_gap():
    assert means_within([1.0, 1.0], [1.0, 1.0], epsilon=0.0).agrees is True
    assert means_within([1.0, 1.0], [1.5, 1.5], epsilon=0.5).agrees is False


def test_the_sample_size_agrees_with_the_textbook():
    """Chow, Shao and Wang: margin 0.05, deviation 0.1, alpha 0.05, power 0.8 needs 69 each."""
    assert sample_size_needed(deviation=0.1, epsilon=0.05) == 69


def test_a_multiset_counts_its_members():
    assert multisets_same([1.0, 1.0, 2.0], [1.0, 2.0, 2.0]).agrees is False
