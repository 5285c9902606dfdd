"""How many seeds a sample takes, and how often equal systems pass with so many: said before a run is spent.

The tests of shapes (``ks``, ``mann-whitney``) need nothing beside their levels. Those of a location (``mean``, ``iqm``)
depend on the standard deviation of the summary, which is known only afterwards.

Invariant: the number of seeds that is named reaches the declared power by the same formula that reports the power.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Final, assert_never

from twice.errors import ClassRefused
from twice.foundation.determinism_class import SampleTest, Summary
from twice.foundation.distributions import (
    binomial_tail,
    smirnov_tail,
    student_t_quantile,
    student_t_tail,
)
from twice.foundation.interquartile_mean import bootstrap_interval, count_beyond
from twice.foundation.printable import pluralize

SEEDS_MAX: Final = 1_000_000
"""Of a search: nobody runs more."""
VALUE_MAX: Final = 1e300
"""Sums of larger numbers overflow."""
_IQM_TO_MEAN: Final = 1.0932
"""Standard error of the interquartile mean to that of the mean, for values with a normal shape."""


def describe_power(summary: Summary) -> str:
    """Describe, before any run, what a sample of the declared size can tell, in one line."""
    n, power, margin = summary.n, summary.power, f"{summary.epsilon:g}"
    seeds = f"{pluralize(n, 'seed')} each, {summary.test.value}"
    levels = f"{seeds} within {margin}, alpha {summary.alpha:g}: equal systems pass with chance"
    match summary.test:
        case SampleTest.MULTISET:
            return f"{seeds}: only the very same values pass"
        case SampleTest.MEAN | SampleTest.IQM:
            most = summary.epsilon * _margin_to_deviation(n, summary)
            shape = ", for a normal shape" if summary.test is SampleTest.IQM else ""
            return f"{levels} {power:g} if the standard deviation of {summary.name!r} is at most {most:.3g}{shape}"
        case SampleTest.KS | SampleTest.MANN_WHITNEY:
            reached = power_of(summary, n)
            needed = count_seeds(summary)
            more = f"; {power:g} takes {pluralize(needed, 'seed')}" if needed and needed > n else ""
            return f"{levels} {reached:.2g}{more}"
        case _:
            assert_never(summary.test)


def describe_reached(summary: Summary, values: Sequence[float | None]) -> str:
    """Describe, by the first of two samples, how often the second passes if the systems are equal; "" if that is known.

    The power of ``ks`` and ``mann-whitney`` is known before the runs.
    """
    given = [value for value in values if value is not None and abs(value) <= VALUE_MAX]
    if len(given) < len(values):
        return f"{len(values) - len(given)} of {pluralize(len(values), 'seed')} gave no finite number: this sample never passes"
    if summary.test not in {SampleTest.MEAN, SampleTest.IQM}:
        return ""
    deviation = measure_deviation(summary.test, given, given)
    power = power_of(summary, len(given), deviation=deviation)
    needed, more = count_seeds(summary, deviation=deviation), ""
    if needed and needed > len(given):
        more = f"; {summary.power:g} takes {pluralize(needed, 'seed')}"
    return f"standard deviation {deviation:.3g}: equal systems pass with chance {power:.2g}{more}"


def measure_deviation(
    test: SampleTest, recorded: Sequence[float], replayed: Sequence[float]
) -> float:
    """Return the standard deviation that ``power_of`` takes, from both sides.

    Args:
        test: ``mean``, or ``iqm``: the deviation of normal values whose interquartile means vary as much.
        recorded: finite numbers, as many as the test takes.
        replayed: the same of the other side.
    """
    if test is SampleTest.IQM:
        n = min(len(recorded), len(replayed))
        return bootstrap_interval(recorded, replayed, alpha=0.5)[2] / unit_error(test, n)
    return math.hypot(standard_deviation(recorded), standard_deviation(replayed)) / math.sqrt(2)


def standard_deviation(values: Sequence[float]) -> float:
    """Return the standard deviation of at least two finite numbers; squares neither vanish nor overflow."""
    mean = math.fsum(values) / len(values)
    return math.hypot(*(value - mean for value in values)) / math.sqrt(len(values) - 1)


def require_decidable(summary: Summary) -> None:
    """Refuse a declaration that no samples of its size can pass, or that everything passes.

    Raises:
        ClassRefused: E-CLASS-001.
    """
    test, limit = summary.test, _MARGINS_MAX.get(summary.test, math.inf)
    if summary.epsilon >= limit:
        raise ClassRefused(
            f"The margin {summary.epsilon!r} of {test.value} passes any two systems.",
            f"Expected a margin below {limit:g}.",
            "For example: --epsilon 0.2",
        )
    if summary.alpha > 0.5 and test is not SampleTest.MULTISET:
        raise ClassRefused(
            f"With alpha={summary.alpha!r} a difference of the margin passes more often than not.",
            "Expected alpha, the chance of passing such a difference, to be at most 0.5.",
            "For example: --alpha 0.05",
        )
    if power_of(summary, summary.n) > 0:
        return
    needed = count_seeds(summary)
    # Resamples have an end, wherever the margin lies.
    other = "--alpha" if test is SampleTest.IQM else "--epsilon"
    raise ClassRefused(
        f"{pluralize(summary.n, 'seed')} can never pass {test.value} within {summary.epsilon!r} at alpha "
        f"{summary.alpha!r}.",
        f"Expected {pluralize(needed, 'seed')} for power {summary.power!r}."
        if needed
        else f"Expected levels for which {SEEDS_MAX:,} seeds are enough.",
        f"Give --n {needed}, or a larger {other}." if needed else f"Give a larger {other}.",
    )


def power_of(summary: Summary, n: int, *, deviation: float = 0.0) -> float:
    """Return how often two samples of n values pass if both systems are equal.

    Args:
        summary: test, margin and alpha.
        n: values on each side, at least 2.
        deviation: standard deviation of the values, in their unit, >= 0; the shape is taken as normal.
            ``ks``, ``mann-whitney`` and ``multiset`` ignore it, and hold for values without ties; with ties, which bring
            equal samples nearer to each other, equal systems pass at least as often.
    """
    match summary.test:
        case SampleTest.MULTISET:
            return 1.0
        case SampleTest.MEAN | SampleTest.IQM:
            if summary.test is SampleTest.IQM and not count_beyond(n, alpha=summary.alpha):
                return 0.0
            error = deviation * unit_error(summary.test, n)
            if error == 0:
                return 1.0
            freedom = _count_freedom(summary.test, n)
            slack = summary.epsilon / error - student_t_quantile(summary.alpha, freedom)
            return max(0.0, 1 - 2 * student_t_tail(slack, freedom))
        case SampleTest.KS:
            steps = _count_steps(summary, n)
            return 0.0 if steps is None else 1 - smirnov_tail(steps + 1, n)
        case SampleTest.MANN_WHITNEY:
            reach = _find_reach(summary, n)
            if reach is None:
                return 0.0
            # The normal approximation of U, whose variance is exact for equal systems without ties.
            spread = math.sqrt((2 * n + 1) / 12) / n
            return math.erf(reach / spread / math.sqrt(2))
        case _:
            assert_never(summary.test)


def count_seeds(summary: Summary, *, deviation: float = 0.0) -> int | None:
    """Return how many seeds each side needs for the declared power; None where a million would not do.

    Args:
        summary: test and levels.
        deviation: as of ``power_of``.
    """
    return _find_least(lambda n: power_of(summary, n, deviation=deviation) >= summary.power)


def ks_chance(distance: float, n: int, *, epsilon: float) -> float:
    """Return how often samples of distributions that are epsilon apart come so near to each other, at most.

    Where two distribution functions are epsilon apart, the gap of the samples is n less than a sum of 2n coins, and
    of all coins with one mean equal ones have the heaviest tail.

    Source: W. Hoeffding, Ann. Math. Statist. 27 (1956) 713, theorem 4.
    """
    return binomial_tail(n * (1 + distance), 2 * n, min((1 + epsilon) / 2, 1.0))


def rank_chance(lead: float, n: int, *, epsilon: float) -> float:
    """Return how often systems with a chance of 1/2 + epsilon give samples with so small a lead, at most.

    The statistic is a mean over ways to pair the samples off, and each way is a mean of n numbers from 0 to 1. Coins have
    the largest variance among those, with ties or without; that their tail is the heaviest is not proven, and simulated.

    Args:
        lead: the larger of the chances of either side, from 1/2 to 1.
        n: the size of the smaller sample.
        epsilon: the margin, from 0 to 1/2.

    Source: W. Hoeffding, J. Am. Stat. Assoc. 58 (1963) 13, section 5, for the pairing.
    """
    return binomial_tail(n * lead, n, min(0.5 + epsilon, 1.0))


def unit_error(test: SampleTest, n: int) -> float:
    """Return the standard error of the difference of two samples of n normal values with deviation 1.

    Args:
        test: ``mean`` or ``iqm``.
        n: values on each side.
    """
    return math.sqrt(2 / n) * (_IQM_TO_MEAN if test is SampleTest.IQM else 1.0)


_MARGINS_MAX: Final = {SampleTest.KS: 1.0, SampleTest.MANN_WHITNEY: 0.5}


def _count_freedom(test: SampleTest, n: int) -> int:
    """Return degrees of freedom: Welch's for equal deviations, or those of the expanded interval."""
    return n - 1 if test is SampleTest.IQM else 2 * n - 2


def _margin_to_deviation(n: int, summary: Summary) -> float:
    """Return the largest standard deviation, in margins, with which n values have the declared power."""
    freedom = _count_freedom(summary.test, n)
    reach = student_t_quantile(summary.alpha, freedom)
    reach += student_t_quantile((1 - summary.power) / 2, freedom)
    return 1 / (reach * unit_error(summary.test, n))


def _count_steps(summary: Summary, n: int) -> int | None:
    """Return the largest distance times n that ``ks`` passes; None where it passes none."""

    def is_passing(steps: int) -> bool:
        return ks_chance(steps / n, n, epsilon=summary.epsilon) < summary.alpha

    if not is_passing(0):
        return None
    low, high = 0, n + 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if is_passing(middle) else (low, middle)
    return low


def _find_reach(summary: Summary, n: int) -> float | None:
    """Return how far from 1/2 ``mann-whitney`` lets a chance lie; None where it passes none."""

    def is_passing(reach: float) -> bool:
        return rank_chance(0.5 + reach, n, epsilon=summary.epsilon) < summary.alpha

    if not is_passing(0):
        return None
    low, high = 0.0, 0.5
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if is_passing(middle) else (low, middle)
    return low


def _find_least(is_enough: Callable[[int], bool]) -> int | None:
    """Return a number that is enough and has none much below it, up to the most that anyone runs."""
    low, high = 1, 2
    while not is_enough(high):
        if high >= SEEDS_MAX:
            return None
        low, high = high, min(2 * high, SEEDS_MAX)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return high
