"""Exact sums: each group of numbers added without error, then rounded once.

Numbers whose exponents lie in one window of eight are multiples of one power of two and not much larger, so that many of
them add up in a double without any rounding, in whatever order. A block of values becomes a few such partial sums, and
``math.fsum`` rounds those of one group. This is the small superaccumulator of Neal (2015) with floats as digits.

Invariant: every addition of floats in this file is exact, but for the one rounding at the end of each group.
"""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from twice.numeric.operands import Array, overflow_error

# A window of 2**3 exponents, and numbers cut at 27 bits: the upper parts of one window are multiples of its quantum
# and below 2**33 quanta, the lower parts below 2**34. So 2**19 of either stay within the 2**53 of a double.
_WINDOW_SHIFT: Final = 52 + 3
_LOWER_BITS: Final = (1 << 27) - 1
_BLOCK_MIN: Final = 1 << 16  # stays in the cache
_BLOCK_MAX: Final = 1 << 19
_WINDOW_TOP: Final = 253  # from here (2**1001) such sums can overflow
_FEW: Final = 1000  # values that math.fsum adds sooner than they are condensed
_SPARSE: Final = 32  # values for each group that a block has at least, where there are so many

_TINY_EXPONENT: Final = 1074  # 2**-1074 is the smallest positive number


def sum_groups(values: Array, index: Array | None, size: int, dtype: np.dtype[Any]) -> Array:
    """Return the sum of each group, rounded once to ``dtype``.

    A sum beyond the largest number is an infinity. Infinities and NaN among the values give what IEEE 754 gives.
    An empty group and one that cancels give 0.0.

    Args:
        values: one row of float32 or float64.
        index: the group of each value, from 0 to ``size - 1``; None if there is only one.
        size: number of groups.
        dtype: float32 or float64.
    """
    values = values.astype(np.float64, copy=False)
    index = None if index is None else index.reshape(-1)
    special = ~np.isfinite(values)
    if not special.any():
        return _sum_finite(values, index, size, dtype)
    index = np.zeros(len(values), np.int64) if index is None else index
    totals = _sum_finite(values[~special], index[~special], size, dtype)
    beyond = np.zeros_like(totals)
    np.add.at(beyond, index[special], values[special].astype(dtype))
    totals[index[special]] = beyond[index[special]]
    return totals


def _sum_finite(values: Array, index: Array | None, size: int, dtype: np.dtype[Any]) -> Array:
    block = max(_BLOCK_MIN, _SPARSE * size)
    if block > _BLOCK_MAX and (index is None or np.bincount(index, minlength=1).max() > _BLOCK_MAX):
        block = _BLOCK_MAX
    cuts = [slice(start, start + block) for start in range(0, len(values), block)]
    is_single = dtype == np.float32
    if index is None:
        if len(values) > _FEW:
            values = np.concatenate([_condense(values[cut], None, 1)[0] for cut in cuts])
        return np.array([_round(values.tolist(), is_single=is_single)]).astype(dtype)
    parts = [(np.zeros(0), np.zeros(0, np.int64))]
    parts += [_condense(values[cut], index[cut], size) for cut in cuts]
    terms, groups = map(np.concatenate, zip(*parts, strict=True))
    # numpy sorts 16 bits by radix, alike on every processor.
    order = np.arange(len(groups))
    for shift in range(0, max(1, size - 1).bit_length(), 16):
        digits = (groups[order] >> shift).astype(np.uint16)
        order = order[np.argsort(digits, kind="stable")]
    terms = terms[order]
    bounds = np.searchsorted(groups[order], np.arange(size + 1))
    count = np.diff(bounds)
    totals = np.zeros(size)
    totals[count == 1] = terms[bounds[:-1][count == 1]]
    for group in np.flatnonzero(count > 1).tolist():
        row = terms[bounds[group] : bounds[group + 1]]
        totals[group] = _round(row.tolist(), is_single=is_single)
    return totals.astype(dtype)


def _condense(values: Array, index: Array | None, size: int) -> tuple[Array, Array]:
    """Return fewer numbers with the same exact sum in each group, and their groups."""
    index = np.zeros(len(values), np.int64) if index is None else index
    if not values.all():  # Zeros would stretch the table to the lowest window.
        values, index = values[values != 0], index[values != 0]
    if not len(values):
        return values, index
    bits = values.view(np.int64)
    window = (bits >> _WINDOW_SHIFT) & 0xFF
    first, last = int(window.min()), int(window.max())
    width = last - first + 1
    if last >= _WINDOW_TOP or len(values) < size * width:
        return values, index
    cell = window - first if size == 1 else (window - first) + index * width
    upper = (bits & ~_LOWER_BITS).view(np.float64)
    sums = [np.bincount(cell, part, size * width) for part in (upper, values - upper)]
    terms, groups = np.concatenate(sums), np.tile(np.arange(size * width) // width, 2)
    return terms[terms != 0], groups[terms != 0]


def _round(terms: list[float], *, is_single: bool) -> float:
    """Return the exact sum as a float, or as one that becomes the nearest float32 when it is converted."""
    try:
        total = math.fsum(terms)
    except OverflowError:  # It depends on the order of the terms whether their sum is too large.
        return round_fraction(sum(_to_integer(term) for term in terms), _TINY_EXPONENT)
    if is_single and (rest := math.fsum([*terms, -total])):
        # Rounded to odd, the second rounding cannot go astray (Boldo and Melquiond 2008).
        is_even = int(math.ldexp(math.frexp(total)[0], 53)) % 2 == 0
        total = math.nextafter(total, math.copysign(math.inf, rest)) if is_even else total
    return total


def _to_integer(value: float) -> int:
    numerator, denominator = value.as_integer_ratio()
    return numerator * ((1 << _TINY_EXPONENT) // denominator)


def round_fraction(numerator: int, exponent: int) -> float:
    """Return ``numerator / 2**exponent`` as the nearest float; an infinity beyond the largest one."""
    try:
        return numerator / (1 << exponent)
    except OverflowError:
        return math.inf if numerator > 0 else -math.inf


def sum_integers(values: Array, index: Array, size: int, name: str) -> Array:
    """Return the sum of each group of int64.

    Raises:
        NumericRefused: E-NUMERIC-001, if a sum leaves int64.
    """
    upper, lower = np.zeros(size, np.int64), np.zeros(size, np.int64)
    np.add.at(upper, index, values >> 32)
    np.add.at(lower, index, values & 0xFFFFFFFF)
    upper += lower >> 32
    if size and not -(1 << 31) <= upper.min() <= upper.max() < 1 << 31:
        raise overflow_error(name)
    return (upper << 32) | (lower & 0xFFFFFFFF)
