"""The interquartile mean, and the bootstrap interval of the difference between two of them.

The mean of the middle half of a sample is a robust score of runs under many seeds: a quarter of very bad and a
quarter of very good runs leave it alone, and it wastes less of a sample than the median. Other modules judge the interval.

Invariant: the interval depends on the values of the two samples alone: not on their order, the machine or numpy.
Swapping samples of other values mirrors it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from random import Random
from typing import Final

from twice.foundation.distributions import student_t_quantile

LEAST: Final = 4
"""Values that a sample needs: fewer have no middle half."""
RESAMPLES: Final = 2000
_SEED: Final = 43  # any number, but for ever the same


def interquartile_mean(values: Sequence[float]) -> float:
    """Return the mean of the middle half: a quarter of the values, rounded down, is cut from each end.

    Args:
        values: at least one finite number.

    Source: R. Agarwal et al., Deep Reinforcement Learning at the Edge of the Statistical Precipice, NeurIPS 34 (2021), as
        ``scipy.stats.trim_mean(values, 0.25)``.
    """
    return _mean_of_middle(sorted(values))


def bootstrap_interval(
    recorded: Sequence[float], replayed: Sequence[float], *, alpha: float
) -> tuple[float, float, float]:
    """Return an interval of the difference of two interquartile means, and its standard error.

    Each side is resampled by itself, 2,000 times, by a generator of its own with a fixed seed. The percentiles are
    those of the expanded interval, because the plain one is too narrow for a few values.

    Args:
        recorded: at least 4 finite numbers.
        replayed: at least 4 finite numbers.
        alpha: chance that the difference lies below the interval, and chance that it lies above, up to 0.5.

    Returns:
        Lower end, upper end and standard error of replayed minus recorded, in the unit of the values. The ends are
        infinite where ``count_beyond`` is 0.

    Source: T. Hesterberg, What Teachers Should Know About the Bootstrap, Am. Stat. 69 (2015) 371, section 4.5.3.
    """
    # The two get the same numbers whichever is called the record.
    first, last = sorted((sorted(recorded), sorted(replayed)))
    gaps = sorted(
        two - one
        for one, two in zip(_resample(tuple(first), 0), _resample(tuple(last), 1), strict=True)
    )
    at = count_beyond(min(len(first), len(last)), alpha=alpha)
    low, high = (gaps[at], gaps[-1 - at]) if at else (-math.inf, math.inf)
    middle = math.fsum(gaps) / RESAMPLES
    error = math.hypot(*(gap - middle for gap in gaps)) / math.sqrt(RESAMPLES - 1)
    return (low, high, error) if first == sorted(recorded) else (-high, -low, error)


def count_beyond(n: int, *, alpha: float) -> int:
    """Return how many resamples lie beyond each end of the interval; 0 where n values are too few for alpha.

    Source: as of ``bootstrap_interval``.
    """
    if n < LEAST:
        return 0
    reach = student_t_quantile(alpha, n - 1) * math.sqrt(n / (n - 1))
    return min(math.floor(math.erfc(reach / math.sqrt(2)) / 2 * RESAMPLES), RESAMPLES // 2 - 1)


@lru_cache(maxsize=4)  # the interval and the power ask for the same
def _resample(values: tuple[float, ...], side: int) -> list[float]:
    """Return the interquartile means of the resamples of a sorted sample."""
    # Python promises the numbers of random() for a seed; those of choices() may change with a version.
    draw, n = Random(2 * _SEED + side).random, len(values)  # noqa: S311
    places = ([int(draw() * n) for _ in range(n)] for _ in range(RESAMPLES))
    return [_mean_of_middle([values[at] for at in sorted(chosen)]) for chosen in places]


def _mean_of_middle(ordered: Sequence[float]) -> float:
    cut = len(ordered) // 4
    middle = ordered[cut : len(ordered) - cut]
    return math.fsum(middle) / len(middle)
