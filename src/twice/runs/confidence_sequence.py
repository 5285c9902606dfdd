"""A confidence sequence of a mean: intervals that are valid at every sample size at once, so that looking costs nothing.

An ordinary interval of 95 % covers the mean in 95 % of samples whose size was fixed beforehand. Whoever looks after each
value and stops at a narrow one gets less. Here all intervals together cover with the declared chance, so a sweep may stop
whenever it likes.

Exact for independent values with a normal shape, whatever their mean and deviation. Not promised for other shapes: values
with heavy tails or much skew are covered less often while there are few of them.

Invariant: the interval is a function of the values in their order; no clock, no machine and no speed plays a part.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

LEAST: Final = 10
"""Values before which the interval is infinite at a level of 5 %; a stricter level takes more."""
_EFFECT_VARIANCE: Final = 0.1
"""Of the prior of the mean in units of the deviation: narrowest from some dozens to some thousands of values."""


@dataclass(slots=True)
class MeanSequence:
    """The running mean of values, and its interval after each of them."""

    n: int = 0
    mean: float = 0.0
    squares: float = 0.0  # sum of squared distances from the mean

    def add(self, value: float) -> None:
        """Count one finite value.

        Source: B. P. Welford, Technometrics 4 (1962) 419.
        """
        self.n += 1
        before = value - self.mean
        self.mean += before / self.n
        self.squares += before * (value - self.mean)

    def half_width(self, alpha: float) -> float:
        """Return half the width of the interval around the mean; infinite while there are too few values.

        The interval holds the means that the test martingale of a scale-invariant t-test, with a normal prior of the
        standardised mean, has never rejected by a factor of 1 / alpha; that has a closed form.

        Args:
            alpha: chance that the mean is ever outside, above 0 and below 1.

        Source: H. Wang and A. Ramdas, Anytime-valid t-tests and confidence sequences for Gaussian means with unknown
            variance, arXiv 2310.03722; T. L. Lai, Ann. Stat. 4 (1976) 265. Ville's inequality makes it time-uniform.
        """
        if self.n < 2:
            return math.inf
        spread = 1 + self.n * _EFFECT_VARIANCE
        bound = math.exp(math.log(spread / alpha**2) / self.n)
        if bound >= spread:
            return math.inf
        # t**2 / (n - 1) at which the martingale is 1 / alpha; t = distance * sqrt(n) / deviation.
        reach = (bound - 1) / (1 - bound / spread)
        return math.sqrt(reach * self.squares / self.n)
