"""Distributions of test statistics: Student's t, the binomial, and Smirnov's for two equal samples.

Only what the statistical class needs, in plain Python: scipy is no part of the core install, and a verdict must not
depend on its version. Other modules turn these chances into answers.

Invariant: every function is monotone in its first argument, and a chance lies from 0 to 1.
"""

from __future__ import annotations

import math
from typing import Final

_ITERATIONS_MAX: Final = 20_000
_CONVERGED: Final = 1e-15
_TINY: Final = 1e-300


def student_t_tail(t: float, freedom: float) -> float:
    """Return the chance that Student's t with so many degrees of freedom exceeds ``t``.

    Source: NIST DLMF 8.17.5 and 26.5.27 of Abramowitz and Stegun.
    """
    half = incomplete_beta(freedom / 2, 0.5, freedom / (freedom + t * t)) / 2
    return half if t >= 0 else 1 - half


def student_t_quantile(chance: float, freedom: float) -> float:
    """Return the ``t`` that Student's t exceeds with a chance between 0 and 1, by bisection."""
    if chance > 0.5:
        return -student_t_quantile(1 - chance, freedom)
    low, high = 0.0, 1.0
    while student_t_tail(high, freedom) > chance:
        low, high = high, 2 * high
    while low < (middle := (low + high) / 2) < high:
        low, high = (middle, high) if student_t_tail(middle, freedom) > chance else (low, middle)
    return high


def binomial_tail(count: float, trials: int, chance: float) -> float:
    """Return the chance of at most ``count`` successes among ``trials``; it rises smoothly between whole counts.

    Source: NIST DLMF 8.17.5.
    """
    if count >= trials:
        return 1.0
    return 0.0 if count < 0 else incomplete_beta(trials - count, count + 1, 1 - chance)


def smirnov_tail(steps: int, n: int) -> float:
    """Return the chance that two samples of one continuous distribution are at least steps / n apart (KS).

    Args:
        steps: the distance times n; a whole number, because both samples have n values.
        n: size of each sample.

    Source: B. V. Gnedenko, V. S. Korolyuk, Dokl. Akad. Nauk SSSR 80 (1951) 525; exact. With ties the
        chance is smaller.
    """
    if steps <= 0:
        return 1.0
    total, sign = 0.0, 2.0
    for away in range(steps, n + 1, steps):
        term = 1.0  # C(2n, n - away) / C(2n, n)
        for at in range(1, away + 1):
            term *= (n - away + at) / (n + at)
            if term < _CONVERGED:
                break
        total += sign * term
        sign = -sign
        if term < _CONVERGED:
            break
    return min(max(total, 0.0), 1.0)


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
