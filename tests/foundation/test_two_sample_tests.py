"""Claims about when two samples agree, differ, or cannot tell."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from twice.foundation.determinism_class import SampleTest, Summary
from twice.foundation.distributions import student_t_tail
from twice.foundation.sample_size import count_seeds
from twice.foundation.two_sample_tests import (
    apply_test,
    explain_undecided,
    iqm_within,
    ks_distance,
    ks_within,
    means_apart,
    means_within,
    multisets_same,
    rank_lead,
    ranks_within,
)

FINITE = st.floats(-1e6, 1e6)


def normals(seed: int, count: int, mean: float = 0.0) -> list[float]:
    draw = random.Random(seed)
    return [draw.gauss(mean, 1.0) for _ in range(count)]


@given(st.lists(FINITE, min_size=2, max_size=20), st.sampled_from(list(SampleTest)))
def test_the_very_same_numbers_always_agree(values: list[float], test: SampleTest) -> None:
    assume(min(values) < max(values))
    found = apply_test(Summary("x", test), values, list(values))

    assert found.agrees is True
    assert found.identical


@given(
    st.lists(st.tuples(FINITE, FINITE), min_size=2, max_size=20),
    st.sampled_from(list(SampleTest)),
    st.floats(0, 10) | st.just(5e-324),
)
@settings(max_examples=50)  # some have a bootstrap
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
        (SampleTest.MANN_WHITNEY, 200, 0.0, True),
        (SampleTest.MANN_WHITNEY, 200, 3.0, False),
        (SampleTest.MANN_WHITNEY, 4, 0.0, None),
        (SampleTest.IQM, 200, 0.0, True),
        (SampleTest.IQM, 200, 3.0, False),
        (SampleTest.IQM, 5, 0.0, None),
    ],
)
def test_enough_values_tell_and_few_do_not(
    test: SampleTest, count: int, shift: float, expected: bool | None
) -> None:
    summary = Summary(
        "x", test, epsilon={SampleTest.MEAN: 0.5, SampleTest.IQM: 0.5}.get(test, 0.25)
    )

    found = apply_test(summary, normals(1, count), normals(2, count, shift))

    assert found.agrees is expected
    assert found.needed is not None
    assert (count < found.needed) is (expected is None)


def test_a_difference_that_shows_in_few_values_is_a_difference() -> None:
    found = apply_test(Summary("x", epsilon=0.1), normals(1, 5), normals(2, 5, 50.0))

    assert found.agrees is False


@pytest.mark.parametrize("test", [each for each in SampleTest if each is not SampleTest.MULTISET])
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


@pytest.mark.parametrize("odd", [None, math.nan, math.inf])
def test_what_is_no_number_on_both_sides_cannot_be_told(odd: float | None) -> None:
    found = apply_test(Summary("x", epsilon=1.0), [1.0, odd], [1.0, odd])

    assert found.agrees is None
    assert "finite number" in explain_undecided(found, 2)


@pytest.mark.parametrize("test", list(SampleTest))
@pytest.mark.parametrize("odd", [math.nan, math.inf, -math.inf])
def test_a_value_that_is_not_finite_is_named_with_its_seed_and_its_side(
    test: SampleTest, odd: float
) -> None:
    found = apply_test(Summary("x", test), [1.0, 2.0, 3.0], [1.0, odd, odd], seeds=[70, 71, 72])

    assert found.agrees is None
    assert f"Seed 71 gave {odd!r} on the side of the replay, and 1 more seed" in found.reason


def test_so_many_values_pass_equal_distributions_as_often_as_declared() -> None:
    summary = Summary("x", SampleTest.KS, epsilon=0.3)
    needed = count_seeds(summary)
    assert needed is not None
    passed = [
        apply_test(summary, normals(2 * at, needed), normals(2 * at + 1, needed)).agrees
        for at in range(300)
    ]

    assert 0.75 <= passed.count(True) / 300 <= 0.95
    assert False not in passed


def test_constants_are_apart_by_what_they_are_apart() -> None:
    assert means_apart([1.0, 1.0], [2.0, 2.0], epsilon=0.5)
    assert not means_apart([1.0, 1.0], [2.0, 2.0], epsilon=1.0)
    assert not means_apart([1.0], [2.0], epsilon=0.5)


samples = st.lists(st.floats(-100, 100), min_size=2, max_size=12)


@given(samples, samples, st.randoms(use_true_random=False))
@settings(max_examples=30)  # two bootstraps each
def test_the_order_of_a_sample_changes_no_verdict(first, last, shuffler):
    shuffled = list(first)
    shuffler.shuffle(shuffled)

    assert means_within(first, last, epsilon=1) == means_within(shuffled, last, epsilon=1)
    assert ks_within(first, last, epsilon=0.2) == ks_within(shuffled, last, epsilon=0.2)
    assert ranks_within(first, last, epsilon=0.2) == ranks_within(shuffled, last, epsilon=0.2)
    assert iqm_within(first, last, epsilon=1) == iqm_within(shuffled, last, epsilon=1)
    assert multisets_same(first, shuffled).agrees is True


@given(samples, samples, st.sampled_from(list(SampleTest)), st.floats(0, 1), st.floats(0, 1))
@settings(max_examples=50)  # some have a bootstrap
def test_a_wider_margin_passes_whatever_a_narrow_one_passes(first, last, test, one, two):
    narrow, wide = sorted((one, two))
    if apply_test(Summary("x", test, narrow), first, last).agrees:
        assert apply_test(Summary("x", test, wide), first, last).agrees


@given(samples, samples)
def test_the_chances_of_both_sides_are_one_together(first, last):
    pairs = [(x < y) + (x == y) / 2 for x in first for y in last]

    assert math.isclose(rank_lead(first, last), sum(pairs) / len(pairs))
    assert math.isclose(rank_lead(first, last) + rank_lead(last, first), 1)


def test_the_statistics_are_those_of_scipy():
    """scipy 1.17.1: ttest_ind (equal_var=False), mannwhitneyu, ks_2samp and trim_mean."""
    first = [1.2, 3.4, 2.2, 5.1, 4.8, 3.3, 2.9, 6.0]
    last = [2.1, 4.4, 2.2, 6.3, 3.9, 3.3, 5.2]

    assert math.isclose(
        means_within(first, last, epsilon=1.5).statistic, 0.0814874891179398, rel_tol=1e-12
    )
    assert math.isclose(rank_lead(first, last), 0.5535714285714286)
    assert math.isclose(ks_distance(first, last), 0.19642857142857142)
    assert math.isclose(iqm_within(first, last, epsilon=1).statistic, 3.8 - 3.6)


def test_a_few_values_with_ties_do_not_pass_for_want_of_a_spread():
    """Of 30 in 100 such systems a sample of 5 shows no difference at all, while the chance is 0.6."""
    found = ranks_within([0.0] * 5, [0.0] * 5, epsilon=0.1)

    assert found.agrees is None


def test_a_distance_within_the_margin_alone_does_not_pass():
    first = [float(at) for at in range(20)]
    found = ks_within(first, [value + 2.5 for value in first], epsilon=0.3)

    assert found.statistic == pytest.approx(0.15)
    assert found.agrees is None


def test_equal_systems_do_not_fail_for_want_of_luck():
    """The samples have the declared power, and the means are not near enough: no answer, and what to do."""
    values = normals(3, 40)
    found = apply_test(Summary("x", epsilon=0.9), values, [value + 0.6 for value in normals(4, 40)])

    assert found.agrees is None
    assert found.needed is not None
    assert found.needed <= 40
    assert "near the margin" in explain_undecided(found, 40)


@pytest.mark.parametrize("test", [SampleTest.MEAN, SampleTest.IQM])
@pytest.mark.parametrize("scale", [1e-200, 1e-160, 1.0, 1e160, 1e290])
def test_very_small_and_very_large_values_are_judged_as_any_other(test, scale):
    def answer(shift):
        summary = Summary("x", test, 0.5 * scale)
        first = [value * scale for value in normals(1, 100)]
        return apply_test(summary, first, [(v + shift) * scale for v in normals(2, 100)]).agrees

    assert [answer(shift) for shift in (0.0, 0.5, 3.0)] == [True, None, False]


@pytest.mark.parametrize("test", [SampleTest.KS, SampleTest.MANN_WHITNEY])
def test_one_value_for_all_seeds_is_judged_as_any_other_sample(test):
    """Five runs without a failure do not show that fewer than one in ten fails."""
    summary = Summary("solved", test, 0.2)
    few, many = ([1.0] * count for count in (5, 200))

    assert apply_test(summary, few, few).agrees is None
    found = apply_test(summary, many, many)
    assert (found.agrees, found.identical) == (True, True)


def test_a_constant_sample_says_what_it_cannot_show():
    found = apply_test(Summary("x"), [1.0] * 30, [1.0] * 30)

    assert found.agrees is True
    assert "come in up to 10% of runs may be unseen" in found.reason


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


def test_a_multiset_counts_its_members():
    assert multisets_same([1.0, 1.0, 2.0], [1.0, 2.0, 2.0]).agrees is False
