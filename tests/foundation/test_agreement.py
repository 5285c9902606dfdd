"""Claims about when two samples agree, differ, or cannot tell."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twice.foundation.agreement import agreement
from twice.foundation.classes import SampleTest, Summary
from twice.foundation.equivalence.samples import ks_size_needed, means_apart

FINITE = st.floats(-1e6, 1e6)


def normals(seed: int, count: int, mean: float = 0.0) -> list[float]:
    draw = random.Random(seed)
    return [draw.gauss(mean, 1.0) for _ in range(count)]


@given(st.lists(FINITE, min_size=1, max_size=20), st.sampled_from(list(SampleTest)))
def test_the_very_same_numbers_always_agree(values: list[float], test: SampleTest) -> None:
    found = agreement(Summary("x", test), values, list(values))

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

    assert agreement(summary, first, last).agrees is agreement(summary, last, first).agrees


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

    found = agreement(summary, normals(1, count), normals(2, count, shift))

    assert found.agrees is expected
    assert found.needed is not None
    assert (count < found.needed) is (expected is None)


def test_a_difference_that_shows_in_few_values_is_a_difference() -> None:
    found = agreement(Summary("x", epsilon=0.1), normals(1, 5), normals(2, 5, 50.0))

    assert found.agrees is False


@pytest.mark.parametrize("test", [SampleTest.MEAN, SampleTest.KS])
@pytest.mark.parametrize("epsilon", [0.0, 5e-324])
def test_without_a_margin_only_equality_agrees(test: SampleTest, epsilon: float) -> None:
    values = normals(1, 50)

    found = agreement(Summary("x", test, epsilon), values, [value + 0.01 for value in values])

    assert found.agrees is None
    assert found.needed is None


def test_a_multiset_ignores_the_order_and_nothing_else() -> None:
    summary = Summary("x", SampleTest.MULTISET)

    assert agreement(summary, [1.0, 2.0], [2.0, 1.0]).agrees is True
    assert agreement(summary, [1.0, 2.0], [2.0, 2.0]).agrees is False


def test_a_seed_that_falls_silent_on_one_side_is_a_difference() -> None:
    found = agreement(Summary("x", epsilon=1.0), [1.0, 2.0, 3.0], [1.0, None, 3.0])

    assert found.agrees is False
    assert "first seed 1" in found.reason


@pytest.mark.parametrize("odd", [None, float("nan"), float("inf")])
def test_what_is_no_number_on_both_sides_cannot_be_told(odd: float | None) -> None:
    assert agreement(Summary("x", epsilon=1.0), [1.0, odd], [1.0, odd]).agrees is None


def test_so_many_values_pass_equal_distributions_as_often_as_declared() -> None:
    needed = ks_size_needed(epsilon=0.3, power=0.8)
    summary = Summary("x", SampleTest.KS, epsilon=0.3)
    passed = [
        agreement(summary, normals(2 * at, needed), normals(2 * at + 1, needed)).agrees
        for at in range(300)
    ]

    assert 0.75 <= passed.count(True) / 300 <= 0.95


def test_constants_are_apart_by_what_they_are_apart() -> None:
    assert means_apart([1.0, 1.0], [2.0, 2.0], epsilon=0.5)
    assert not means_apart([1.0, 1.0], [2.0, 2.0], epsilon=1.0)
    assert not means_apart([1.0], [2.0], epsilon=0.5)
