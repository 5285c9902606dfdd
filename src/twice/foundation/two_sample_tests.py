"""Whether two samples of a summary agree: the comparison of the statistical class.

A sample is one number per seed, or None if a run gave none. There are three answers. A sample that is too small
or contains NaN is undecided: it neither passes nor fails, and the answer names the number of seeds that would
decide. The tests use no randomness, so the same samples give the same answer. Other modules run the programs.

Invariant: two samples with the same number for each seed always agree. Apart from that, the order of a sample
does not matter.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final, assert_never

from twice.foundation.dataclass import dataclass
from twice.foundation.determinism_class import SampleTest, Summary
from twice.foundation.printable import pluralize

_ITERATIONS_MAX: Final = 500
_CONVERGED: Final = 1e-15
_TINY: Final = 1e-300


@dataclass(frozen=True, slots=True)
class Agreement:
    """The answer of a two-sample test.

    Attributes:
        agrees: True, False, or None if the samples do not decide.
        statistic: p-value (``mean``) or distance (``ks``) that was compared with alpha or epsilon;
            None where there is none.
        reason: one sentence.
        needed: how many seeds each side needs for the declared power; None where that is unknown.
        identical: whether every seed gave the very same number on both sides.
    """

    agrees: bool | None
    statistic: float | None
    reason: str
    needed: int | None = None
    identical: bool = False


def apply_test(
    summary: Summary, recorded: Sequence[float | None], replayed: Sequence[float | None]
) -> Agreement:
    """Apply a summary's named test to two samples, in the order of their seeds.

    Args:
        summary: name, test, margin and levels.
        recorded: one number per seed; None where the run gave none.
        replayed: the same seeds, run afresh.
    """
    whole = min(len(recorded), len(replayed))
    silent = [(one is None, two is None) for one, two in zip(recorded, replayed, strict=False)]
    moved = [at for at, (one, two) in enumerate(silent) if one is not two]
    if moved:
        reason = f"{len(moved)} of {pluralize(whole, 'seed')} gave a value on one side only, first seed {moved[0]}."
        return Agreement(False, None, reason)
    first = [value for value in recorded if value is not None]
    last = [value for value in replayed if value is not None]
    if len(first) < len(recorded) or len(last) < len(replayed):
        missing = sum(one for one, _ in silent)
        return Agreement(None, None, f"{missing} of {pluralize(whole, 'seed')} gave no value.")
    if first and first == last and all(map(math.isfinite, first)):
        reason = f"Each of {pluralize(len(first), 'seed')} gave the very same value on both sides."
        return Agreement(True, None, reason, identical=True)
    match summary.test:
        case SampleTest.MEAN:
            return _compare_means(summary, first, last)
        case SampleTest.KS:
            return _compare_distributions(summary, first, last)
        case SampleTest.MULTISET:
            return multisets_same(first, last)
        case _:
            assert_never(summary.test)


def _compare_means(summary: Summary, first: Sequence[float], last: Sequence[float]) -> Agreement:
    epsilon, alpha, power = summary.epsilon, summary.alpha, summary.power
    found = means_within(first, last, epsilon=epsilon, alpha=alpha)
    if found.agrees is None:
        return found
    deviation = math.sqrt((_variance(first) + _variance(last)) / 2)
    needed = _count_needed(
        lambda: sample_size_needed(deviation=deviation, epsilon=epsilon, alpha=alpha, power=power)
    )
    agrees: bool | None = found.agrees
    if not agrees and not means_apart(first, last, epsilon=epsilon, alpha=alpha):
        agrees = _deny_if_powered(first, last, needed)
    return replace(found, agrees=agrees, needed=needed)


def _compare_distributions(
    summary: Summary, first: Sequence[float], last: Sequence[float]
) -> Agreement:
    found = ks_within(first, last, epsilon=summary.epsilon)
    if found.agrees is None:
        return found
    assert found.statistic is not None, "a distance stands behind the answer"
    needed = _count_needed(lambda: ks_size_needed(epsilon=summary.epsilon, power=summary.power))
    noise = _ks_reach(summary.alpha) * math.sqrt(2 / min(len(first), len(last)))
    agrees: bool | None = found.agrees
    if agrees:
        # A few values are near each other whatever they were drawn from.
        agrees = None if _deny_if_powered(first, last, needed) is None else True
    elif found.statistic - summary.epsilon <= noise:
        agrees = _deny_if_powered(first, last, needed)
    return replace(found, agrees=agrees, needed=needed)


def _count_needed(needed: Callable[[], int]) -> int | None:
    """Return how many values it takes; None where the margin is so small that no number does."""
    try:
        return needed()
    except (OverflowError, ZeroDivisionError):
        return None


def _deny_if_powered(
    first: Sequence[float], last: Sequence[float], needed: int | None
) -> bool | None:
    """Return False where the samples have the declared power, None where they cannot tell."""
    enough = needed is not None and min(len(first), len(last)) >= needed
    return False if enough else None


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


def ks_within(recorded: Sequence[float], replayed: Sequence[float], *, epsilon: float) -> Agreement:
    """Compare the Kolmogorov-Smirnov distance with epsilon."""
    unusable = _explain_unusable(recorded, replayed, least=1)
    if unusable is not None:
        return unusable
    distance = ks_distance(recorded, replayed)
    return Agreement(distance <= epsilon, distance, f"The distributions are {distance:.6g} apart.")


def ks_size_needed(*, epsilon: float, power: float = 0.8) -> int:
    """Return how many values each sample needs for ``ks_within`` to pass equal distributions.

    Args:
        epsilon: the margin, greater than 0.
        power: chance of passing two samples of one distribution, between 0 and 1.

    Source: N. Smirnov, Ann. Math. Statist. 19 (1948) 279, with the first term of the limit
        distribution.
    """
    return max(2, math.ceil(2 * (_ks_reach(1 - power) / epsilon) ** 2))


def _ks_reach(alpha: float) -> float:
    """Return the distance, times sqrt(n / 2), that equal distributions exceed with chance alpha."""
    return math.sqrt(-math.log(alpha / 2) / 2)


def multisets_same(recorded: Sequence[float], replayed: Sequence[float]) -> Agreement:
    """Return whether both have the very same values, in any order."""
    unusable = _explain_unusable(recorded, replayed, least=1)
    if unusable is not None:
        return unusable
    agrees = sorted(recorded) == sorted(replayed)
    said = "the same values" if agrees else "other values"
    return Agreement(agrees, None, f"The second sample holds {said}.")


def sample_size_needed(
    *, deviation: float, epsilon: float, alpha: float = 0.05, power: float = 0.8
) -> int:
    """Return how many values each sample needs for ``means_within`` to pass equal means.

    Args:
        deviation: standard deviation of the summary, in its own unit.
        epsilon: the margin, in the same unit, greater than 0.
        alpha: chance of passing means that differ by epsilon.
        power: chance of passing means that are equal.

    Source: S.-C. Chow, J. Shao, H. Wang, Sample Size Calculations in Clinical Research (2008),
        section 3.2.3, with the normal approximation.
    """
    from statistics import NormalDist  # it loads fractions and decimal, for a question that few ask

    normal = NormalDist()
    reach = normal.inv_cdf(1 - alpha) + normal.inv_cdf((1 + power) / 2)
    return max(2, math.ceil(2 * (reach * deviation / epsilon) ** 2))


def student_t_tail(t: float, freedom: float) -> float:
    """Return the chance that Student's t with so many degrees of freedom exceeds ``t``.

    Source: NIST DLMF 8.17.5 and 26.5.27 of Abramowitz and Stegun.
    """
    half = incomplete_beta(freedom / 2, 0.5, freedom / (freedom + t * t)) / 2
    return half if t >= 0 else 1 - half


def incomplete_beta(a: float, b: float, x: float) -> float:
    """Return the regularised incomplete beta function I_x(a, b) for a, b > 0 and 0 <= x <= 1.

    Source: NIST DLMF 8.17.22, the continued fraction, by Lentz's method.
    """
    if x <= 0 or x >= 1:
        return 0.0 if x <= 0 else 1.0
    if x > (a + 1) / (a + b + 2):
        return 1 - incomplete_beta(b, a, 1 - x)
    log_front = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
    log_front += a * math.log(x) + b * math.log1p(-x)
    numerator, denominator = 1.0, 1 / _away_from_zero(1 - (a + b) * x / (a + 1))
    fraction = denominator
    for m in range(1, _ITERATIONS_MAX):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for term in (even, odd):
            denominator = 1 / _away_from_zero(1 + term * denominator)
            numerator = _away_from_zero(1 + term / numerator)
            fraction *= denominator * numerator
        if abs(denominator * numerator - 1) < _CONVERGED:
            break
    return math.exp(log_front) * fraction / a


def _away_from_zero(value: float) -> float:
    return value if abs(value) > _TINY else _TINY


def _welch(recorded: Sequence[float], replayed: Sequence[float]) -> tuple[float, float, float]:
    """Return the difference of the means, its standard error, and the degrees of freedom."""
    gap = _mean(replayed) - _mean(recorded)
    first, last = (_variance(each) / len(each) for each in (recorded, replayed))
    error = math.sqrt(first + last)
    if error == 0:
        return gap, 0.0, 1.0
    share = first / (first + last)  # ratios, because squares of small variances vanish
    freedom = 1 / (share**2 / (len(recorded) - 1) + (1 - share) ** 2 / (len(replayed) - 1))
    return gap, error, freedom


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def _variance(values: Sequence[float]) -> float:
    mean = _mean(values)
    return math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1)


def _explain_unusable(
    recorded: Sequence[float], replayed: Sequence[float], *, least: int
) -> Agreement | None:
    smaller = min(len(recorded), len(replayed))
    if smaller < least:
        return Agreement(
            None, None, f"A sample has {pluralize(smaller, 'value')}; it takes {least}."
        )
    if not all(math.isfinite(value) for value in (*recorded, *replayed)):
        return Agreement(None, None, "A sample holds a value that is not finite.")
    return None
