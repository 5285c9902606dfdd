"""Whether two samples of a summary agree: the comparison of the statistical class.

A sample is one number per seed, or None if a run gave none. Every test has three answers. Samples agree if a
difference of the margin would pass so seldom as alpha says, differ if a smaller one would fail so seldom, and are
undecided between. A sample that is too small, or contains NaN, is undecided. The tests draw nothing, or from a fixed
seed, so the same samples give the same answer. Other modules run the programs.

Not covered: pairing by seed, more than two samples, and several summaries at once.

Invariant: two samples with the same number for each seed agree, unless all seeds gave one number. Apart from that,
the order of a sample does not matter.
"""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import replace
from typing import assert_never

from twice.foundation.dataclass import dataclass
from twice.foundation.determinism_class import SampleTest, Summary
from twice.foundation.distributions import binomial_tail, smirnov_tail, student_t_tail
from twice.foundation.interquartile_mean import LEAST, bootstrap_interval, interquartile_mean
from twice.foundation.printable import pluralize
from twice.foundation.sample_size import (
    VALUE_MAX,
    count_seeds,
    ks_chance,
    measure_deviation,
    power_of,
    rank_chance,
    standard_deviation,
)


@dataclass(frozen=True, slots=True)
class Agreement:
    """The answer of a two-sample test.

    Attributes:
        agrees: True, False, or None if the samples do not decide.
        statistic: p-value (``mean``), distance (``ks``), the chance that a replayed value exceeds a recorded one
            (``mann-whitney``) or the difference of the interquartile means (``iqm``); None where there is none.
        reason: one sentence.
        needed: how many seeds each side needs for the declared power; None where that is unknown.
        identical: whether every seed gave the very same number on both sides.
        power: chance that equal systems of this standard deviation pass with so many seeds; None where it is unknown.
    """

    agrees: bool | None
    statistic: float | None
    reason: str
    needed: int | None = None
    identical: bool = False
    power: float | None = None


def apply_test(
    summary: Summary,
    recorded: Sequence[float | None],
    replayed: Sequence[float | None],
    *,
    seeds: Sequence[int] = (),
) -> Agreement:
    """Apply a summary's named test to two samples, in the order of their seeds.

    Args:
        summary: name, test, margin and levels.
        recorded: one number per seed; None where the run gave none.
        replayed: the same seeds, run afresh.
        seeds: names the seeds in the reason; without it they are counted from 0.
    """
    whole = min(len(recorded), len(replayed))
    names = seeds or range(max(len(recorded), len(replayed)))
    silent = [(one is None, two is None) for one, two in zip(recorded, replayed, strict=False)]
    moved = [at for at, (one, two) in enumerate(silent) if one is not two]
    if moved:
        reason = f"{len(moved)} of {pluralize(whole, 'seed')} gave a value on one side only, first seed {names[moved[0]]}."
        return Agreement(False, None, reason)
    first = [value for value in recorded if value is not None]
    last = [value for value in replayed if value is not None]
    if len(first) < len(recorded) or len(last) < len(replayed):
        missing = sum(one for one, _ in silent)
        return Agreement(None, None, f"{missing} of {pluralize(whole, 'seed')} gave no value.")
    for side, values in (("record", first), ("replay", last)):
        odd = [at for at, value in enumerate(values) if not math.isfinite(value)]
        if odd:
            at = odd[0]
            more = f", and {pluralize(len(odd) - 1, 'more seed')}" if len(odd) > 1 else ""
            reason = (
                f"Seed {names[at]} gave {values[at]!r} on the side of the {side}{more}, which no test compares: "
                "run the program with this seed to see why."
            )
            return Agreement(None, None, reason)
    # One number for all seeds says nothing of the seeds: a system that fails in few runs gives it as well.
    if first and first == last and min(first) < max(first):
        reason = f"Each of {pluralize(len(first), 'seed')} gave the very same value on both sides."
        return Agreement(True, None, reason, identical=True)
    epsilon, alpha = summary.epsilon, summary.alpha
    match summary.test:
        case SampleTest.MEAN:
            found = means_within(first, last, epsilon=epsilon, alpha=alpha)
            # Not shown to be near is not shown to be apart.
            if found.agrees is False and not means_apart(first, last, epsilon=epsilon, alpha=alpha):
                found = replace(found, agrees=None)
        case SampleTest.KS:
            found = ks_within(first, last, epsilon=epsilon, alpha=alpha)
        case SampleTest.MANN_WHITNEY:
            found = ranks_within(first, last, epsilon=epsilon, alpha=alpha)
        case SampleTest.IQM:
            found = iqm_within(first, last, epsilon=epsilon, alpha=alpha)
        case SampleTest.MULTISET:
            return multisets_same(first, last)
        case _:
            assert_never(summary.test)
    if found.statistic is None:
        return found
    if summary.test in {SampleTest.MEAN, SampleTest.IQM} and found.agrees:
        found = replace(found, reason=f"{found.reason}{_name_unseen(summary, first, last)}")
    return replace(_add_power(found, summary, first, last), identical=first == last)


def explain_undecided(found: Agreement, n: int) -> str:
    """Return what helps samples of n seeds that do not decide; "" where they do."""
    if found.agrees is not None:
        return ""
    if found.needed is None:
        return (
            "every seed has to give a finite number"
            if found.statistic is None
            else "take a larger --epsilon"
        )
    if found.needed > n:
        return f"it takes {pluralize(found.needed, 'seed')}, not {n}: --n {found.needed}, or a larger --epsilon"
    return "the difference is near the margin: take a larger --n, or another --epsilon"


def _name_unseen(summary: Summary, first: Sequence[float], last: Sequence[float]) -> str:
    """Name the share of runs that constant samples may have missed; "" where values vary: no spread, no test."""
    if min(first) < max(first) or min(last) < max(last):
        return ""
    share = 1 - summary.alpha ** (1 / min(len(first), len(last)))
    return f" All seeds of a side gave one value: others that come in up to {share:.0%} of runs may be unseen."


def _add_power(
    found: Agreement, summary: Summary, first: Sequence[float], last: Sequence[float]
) -> Agreement:
    deviation = 0.0
    if summary.test in {SampleTest.MEAN, SampleTest.IQM}:
        deviation = measure_deviation(summary.test, first, last)
    needed = count_seeds(summary, deviation=deviation)
    power = power_of(summary, min(len(first), len(last)), deviation=deviation)
    return replace(found, needed=needed, power=power)


def means_within(
    recorded: Sequence[float], replayed: Sequence[float], *, epsilon: float, alpha: float = 0.05
) -> Agreement:
    """Test that two means differ by less than epsilon: two one-sided Welch tests (TOST).

    The hypothesis to be rejected is that they differ by epsilon or more, so few or noisy values do
    not pass: absence of evidence is not agreement.

    Returns:
        ``statistic`` is the larger of the two one-sided p-values.

    Source: D. J. Schuirmann, J. Pharmacokin. Biopharm. 15 (1987) 657; B. L. Welch, Biometrika 34
        (1947) 28 for unequal variances.
    """
    unusable = _explain_unusable(recorded, replayed, least=2)
    if unusable is not None:
        return unusable
    gap, error, freedom = _welch(recorded, replayed)
    if error == 0:
        agrees = abs(gap) < epsilon or gap == 0
        return Agreement(agrees, 0.0 if agrees else 1.0, f"Both are constant, {gap!r} apart.")
    p_value = max(
        student_t_tail((gap + epsilon) / error, freedom),
        student_t_tail((epsilon - gap) / error, freedom),
    )
    return Agreement(
        p_value < alpha,
        p_value,
        f"The means differ by {gap:.6g} with standard error {error:.6g}; p = {p_value:.4g}.",
    )


def means_apart(
    recorded: Sequence[float], replayed: Sequence[float], *, epsilon: float, alpha: float = 0.05
) -> bool:
    """Return whether the samples show, at level alpha, that their means differ by more than epsilon.

    Not showing that is not agreement; ``means_within`` tests for that.
    """
    if _explain_unusable(recorded, replayed, least=2) is not None:
        return False
    gap, error, freedom = _welch(recorded, replayed)
    if error == 0:
        return abs(gap) > epsilon
    return student_t_tail((abs(gap) - epsilon) / error, freedom) < alpha


def ks_distance(recorded: Sequence[float], replayed: Sequence[float]) -> float:
    """Return the largest gap between the two empirical distribution functions, from 0 to 1.

    Source: N. Smirnov, Ann. Math. Statist. 19 (1948) 279.
    """
    first, last = sorted(recorded), sorted(replayed)
    return max(
        abs(bisect_right(first, x) / len(first) - bisect_right(last, x) / len(last))
        for x in (*first, *last)
    )


def ks_within(
    recorded: Sequence[float], replayed: Sequence[float], *, epsilon: float, alpha: float = 0.05
) -> Agreement:
    """Test that two distribution functions are less than epsilon apart everywhere (Kolmogorov-Smirnov).

    The samples agree if those of distributions that are epsilon apart seldom come so near to each other, and differ
    if no more than epsilon seldom leads so far. Both hold for all distributions, with ties or without.

    Returns:
        ``statistic`` is the distance. Sizes that differ count as the smaller one.
    """
    unusable = _explain_unusable(recorded, replayed, least=2)
    if unusable is not None:
        return unusable
    n, distance = min(len(recorded), len(replayed)), ks_distance(recorded, replayed)
    passing = ks_chance(distance, n, epsilon=epsilon)
    # Without a difference of 1e-9 steps, a distance of exactly k / n would be rounded up to k + 1.
    failing = smirnov_tail(math.ceil((distance - epsilon) * n - 1e-9), n)
    return _decide(passing, failing, alpha, distance, f"The distributions are {distance:.6g} apart")


def ranks_within(
    recorded: Sequence[float], replayed: Sequence[float], *, epsilon: float, alpha: float = 0.05
) -> Agreement:
    """Test that neither side tends to larger values: P(X < Y) + P(X = Y) / 2 is within 1/2 +- epsilon (Mann-Whitney).

    Two one-sided tests. The variance is not estimated, because the estimates (Brunner-Munzel, Wellek) are near 0 for a
    few values with ties, and pass what they should not: it is the largest that the margin allows.

    Returns:
        ``statistic`` is that chance, X from the record and Y from the replay.

    Source: H. B. Mann, D. R. Whitney, Ann. Math. Statist. 18 (1947) 50; S. Wellek, Testing Statistical Hypotheses of
        Equivalence and Noninferiority (2010), section 6.2, for the margin.
    """
    unusable = _explain_unusable(recorded, replayed, least=2)
    if unusable is not None:
        return unusable
    n, chance = min(len(recorded), len(replayed)), rank_lead(recorded, replayed)
    lead = max(chance, 1 - chance)
    passing = rank_chance(lead, n, epsilon=epsilon)
    # At least so many successes are at most so many failures.
    failing = binomial_tail(n * (1 - lead), n, max(0.5 - epsilon, 0.0))
    said = f"A value of the replay exceeds one of the record with chance {chance:.6g}"
    return _decide(passing, failing, alpha, chance, said)


def rank_lead(recorded: Sequence[float], replayed: Sequence[float]) -> float:
    """Return P(X < Y) + P(X = Y) / 2 for X from the record and Y from the replay, from 0 to 1."""
    ordered = sorted(recorded)
    twofold = sum(bisect_left(ordered, y) + bisect_right(ordered, y) for y in replayed)
    return twofold / (2 * len(recorded) * len(replayed))


def iqm_within(
    recorded: Sequence[float], replayed: Sequence[float], *, epsilon: float, alpha: float = 0.05
) -> Agreement:
    """Test that two interquartile means differ by less than epsilon, by a bootstrap interval of their difference.

    Returns:
        ``statistic`` is the difference. The samples agree if the interval, which leaves out alpha on each side, lies
        within the margins, and differ if it lies outside.

    Source: ``twice.foundation.interquartile_mean``.
    """
    unusable = _explain_unusable(recorded, replayed, least=LEAST)
    if unusable is not None:
        return unusable
    gap = interquartile_mean(replayed) - interquartile_mean(recorded)
    low, high, _ = bootstrap_interval(recorded, replayed, alpha=alpha)
    agrees: bool | None = None
    if max(-low, high) < epsilon or low == high == 0:
        agrees = True
    elif low > epsilon or high < -epsilon:
        agrees = False
    return Agreement(
        agrees,
        gap,
        f"The interquartile means differ by {gap:.6g}, from {low:.6g} to {high:.6g} by bootstrap.",
    )


def multisets_same(recorded: Sequence[float], replayed: Sequence[float]) -> Agreement:
    """Return whether both have the very same values, in any order."""
    unusable = _explain_unusable(recorded, replayed, least=1)
    if unusable is not None:
        return unusable
    agrees = sorted(recorded) == sorted(replayed)
    said = "the same values" if agrees else "other values"
    return Agreement(agrees, None, f"The second sample holds {said}.")


def _decide(passing: float, failing: float, alpha: float, statistic: float, said: str) -> Agreement:
    """Answer by two chances: of so near samples at the margin, and of such far ones within it."""
    agrees = True if passing < alpha else False if failing < alpha else None
    return Agreement(agrees, statistic, f"{said}; p = {passing:.4g}.")


def _welch(recorded: Sequence[float], replayed: Sequence[float]) -> tuple[float, float, float]:
    """Return the difference of the means, its standard error, and the degrees of freedom."""
    gap = _mean(replayed) - _mean(recorded)
    first, last = (standard_deviation(each) / math.sqrt(len(each)) for each in (recorded, replayed))
    error = math.hypot(first, last)  # because squares of small and large deviations vanish
    if error == 0:
        return gap, 0.0, 1.0
    share = (first / error) ** 2
    freedom = 1 / (share**2 / (len(recorded) - 1) + (1 - share) ** 2 / (len(replayed) - 1))
    return gap, error, freedom


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def _explain_unusable(
    recorded: Sequence[float], replayed: Sequence[float], *, least: int
) -> Agreement | None:
    smaller = min(len(recorded), len(replayed))
    if smaller < least:
        return Agreement(
            None, None, f"A sample has {pluralize(smaller, 'value')}; it takes {least}.", least
        )
    if not all(abs(value) <= VALUE_MAX for value in (*recorded, *replayed)):
        return Agreement(
            None, None, f"A sample holds a value that is not finite, or above {VALUE_MAX:g}."
        )
    return None
