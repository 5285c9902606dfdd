"""Whether two samples of a summary agree, as the declared statistical class says.

A sample is one number per seed, or None where a run gave none. Three answers, not two: what a
sample is too small to tell is never a pass and never a failure, and comes with the number of seeds
that would tell. Running the programs is not done here.

Invariant: two samples that are the same number for number always agree.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import assert_never

from twice.foundation.classes import SampleTest, Summary
from twice.foundation.equivalence.samples import (
    deviation,
    ks_reach,
    ks_size_needed,
    ks_within,
    means_apart,
    means_within,
    multisets_same,
    sample_size_needed,
)


@dataclass(frozen=True, slots=True)
class Agreement:
    """What a summary's test found.

    Attributes:
        agrees: True, False, or None where the samples cannot tell.
        statistic: p-value (``mean``) or distance (``ks``); None where there is none.
        needed: how many seeds each side needs for the declared power; None where that is unknown.
        identical: whether every seed gave the very same number on both sides.
        reason: one sentence.
    """

    agrees: bool | None
    statistic: float | None
    needed: int | None
    identical: bool
    reason: str


def agreement(
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
        return _told(
            False,
            f"{len(moved)} of {whole} seeds gave a value on one side only, first seed {moved[0]}.",
        )
    first = [value for value in recorded if value is not None]
    last = [value for value in replayed if value is not None]
    if len(first) < len(recorded) or len(last) < len(replayed):
        return _told(None, f"{sum(one for one, _ in silent)} of {whole} seeds gave no value.")
    if first and first == last and all(map(math.isfinite, first)):
        reason = f"All {len(first)} seeds gave the very same value on both sides."
        return Agreement(True, None, None, identical=True, reason=reason)
    match summary.test:
        case SampleTest.MEAN:
            return _means(summary, first, last)
        case SampleTest.KS:
            return _distributions(summary, first, last)
        case SampleTest.MULTISET:
            verdict = multisets_same(first, last)
            return _told(verdict.agrees, verdict.reason)
        case _:
            assert_never(summary.test)


def _means(summary: Summary, first: Sequence[float], last: Sequence[float]) -> Agreement:
    epsilon, alpha = summary.epsilon, summary.alpha
    verdict = means_within(first, last, epsilon=epsilon, alpha=alpha)
    if verdict.agrees is None:
        return _told(None, verdict.reason)
    spread = deviation(first, last)
    needed = _size(
        lambda: sample_size_needed(
            deviation=spread, epsilon=epsilon, alpha=alpha, power=summary.power
        )
    )
    agrees: bool | None = verdict.agrees
    if not agrees and not means_apart(first, last, epsilon=epsilon, alpha=alpha):
        agrees = _powered(first, last, needed)
    return Agreement(agrees, verdict.statistic, needed, identical=False, reason=verdict.reason)


def _distributions(summary: Summary, first: Sequence[float], last: Sequence[float]) -> Agreement:
    epsilon = summary.epsilon
    verdict = ks_within(first, last, epsilon=epsilon)
    if verdict.agrees is None:
        return _told(None, verdict.reason)
    assert verdict.statistic is not None, "a distance stands behind the answer"
    needed = _size(lambda: ks_size_needed(epsilon=epsilon, power=summary.power))
    noise = ks_reach(summary.alpha) * math.sqrt(2 / min(len(first), len(last)))
    agrees: bool | None = verdict.agrees
    if agrees:
        # A few values are near each other whatever they were drawn from.
        agrees = None if _powered(first, last, needed) is None else True
    elif verdict.statistic - epsilon <= noise:
        agrees = _powered(first, last, needed)
    return Agreement(agrees, verdict.statistic, needed, identical=False, reason=verdict.reason)


def _size(needed: Callable[[], int]) -> int | None:
    """How many values it takes; None where the margin is so small that no number does."""
    try:
        return needed()
    except (OverflowError, ZeroDivisionError):
        return None


def _powered(first: Sequence[float], last: Sequence[float], needed: int | None) -> bool | None:
    """False where the samples have the declared power, None where they cannot tell."""
    enough = needed is not None and min(len(first), len(last)) >= needed
    return False if enough else None


def _told(agrees: bool | None, reason: str) -> Agreement:
    return Agreement(agrees, None, None, identical=False, reason=reason)
