"""Sums of products along the first axis: the part that ``dot`` and ``matmul`` share.

The error of one product is again a number of the same type, unless it is too small for one. ``neumaier`` adds these
errors and lives with that limit; ``exact`` sees it and computes in integers instead. Fused operations are not used: a
processor without them would round twice.

Invariant: ``sum_products(a, b, m)`` for one lane is ``sum_rows(a * b, m)`` for the methods that do not look at errors.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from twice.numeric.exact import round_fraction, sum_groups
from twice.numeric.operands import Array
from twice.numeric.summation import (
    LANES_MANY,
    Method,
    correct_sum,
    find_error,
    sum_compensated,
    sum_pairwise,
    sum_rows,
)

# Veltkamp's: it cuts 53 bits into 26 and 26, and the sign of the lower part is the 53rd.
_SPLITTER: Final = float(2**27 + 1)

# Between these the splitter cannot overflow and the error of a product is not below the smallest number.
_FACTOR_MAX: Final = 2.0**990
_PRODUCT_MAX: Final = 2.0**1000
_PRODUCT_MIN: Final = 2.0**-960

_CACHED: Final = 1 << 15  # products
_PRODUCTS_MAX: Final = 1 << 22  # that exist at a time, while a sum by itself needs no more

_TINY: Final = 1074  # each factor is a multiple of 2**-1074


def sum_products(a: Array, b: Array, method: Method) -> Array:
    """Add ``a * b`` along the first axis: shapes that broadcast to ``(n, …)`` in, ``(…)`` out, all of one float type."""
    if method == "exact":
        return _sum_exactly(*np.broadcast_arrays(a, b))
    if method in ("sequential", "neumaier") and len(a) and (a[0] * b[0]).size >= LANES_MANY:
        return _sum_by_rows(a, b, method)
    products = a * b
    if method == "pairwise" and len(products):
        return sum_pairwise(products, overwrite=True)
    if method == "neumaier" and len(products):
        return sum_compensated(products, _find_errors(a, b, products))
    return sum_rows(products, method)


def _sum_by_rows(a: Array, b: Array, method: Method) -> Array:
    """Do the same one row after the other, so that no more than a few rows of products exist at a time."""
    total: Array = a[0] * b[0]
    if method == "sequential":
        for left, right in zip(a[1:], b[1:], strict=True):
            total += left * right
        return total
    missing = _find_errors(a[0], b[0], total)
    for left, right in zip(a[1:], b[1:], strict=True):
        product = left * right
        before, total = total, total + product
        missing += find_error(before, product, total, _find_errors(left, right, product))
    return correct_sum(total, missing)


def count_lanes(depth: int, method: Method) -> int:
    """Return how many sums of ``depth`` products are best made at a time: their products stay in the cache."""
    rows = 1 if method in ("sequential", "neumaier") else max(1, depth)
    return max(1, _CACHED // rows, min(LANES_MANY, _PRODUCTS_MAX // rows))


def _find_errors(a: Array, b: Array, products: Array) -> Array:
    """Return ``a * b - products``. Source: Dekker 1971; Ogita, Rump and Oishi 2005, Algorithm 3.3 (TwoProduct)."""
    if products.dtype == np.float32:
        return (a.astype(np.float64) * b - products).astype(np.float32)
    a_upper, a_lower = _split(a)
    b_upper, b_lower = _split(b)
    rest = ((a_upper * b_upper - products) + a_upper * b_lower) + a_lower * b_upper
    return rest + a_lower * b_lower  # type: ignore[no-any-return]


def _split(factor: Array) -> tuple[Array, Array]:
    scaled = _SPLITTER * factor
    upper = scaled - (scaled - factor)
    return upper, factor - upper


def _sum_exactly(a: Array, b: Array) -> Array:
    lanes = a[0].size if len(a) else int(np.prod(a.shape[1:]))
    shape, dtype = a.shape[1:], a.dtype
    a, b = a.reshape(len(a), lanes), b.reshape(len(b), lanes)
    lane = np.broadcast_to(np.arange(lanes), a.shape)
    if dtype == np.float32:  # The products of two float32 are exact as float64.
        products = a.astype(np.float64) * b
        return sum_groups(products.reshape(-1), lane, lanes, dtype).reshape(shape)
    products = a * b
    size = np.abs(products)
    is_finite = np.isfinite(a) & np.isfinite(b)
    is_exact = (size >= _PRODUCT_MIN) & (size <= _PRODUCT_MAX)
    is_exact &= (np.abs(a) <= _FACTOR_MAX) & (np.abs(b) <= _FACTOR_MAX)
    is_rounded = is_finite & (a != 0) & (b != 0)
    if (is_exact | ~is_rounded).all():
        # Of a zero times a factor above the limit as well, whose parts would overflow.
        errors = np.where(is_rounded, _find_errors(a, b, products), 0.0)
        terms = np.concatenate((products, errors)).reshape(-1)
        return sum_groups(terms, np.concatenate((lane, lane)), lanes, dtype).reshape(shape)
    totals = [
        _sum_lane(a[:, at], b[:, at], np.flatnonzero(~is_finite[:, at])) for at in range(lanes)
    ]
    return np.array(totals, dtype).reshape(shape)


def _sum_lane(a: Array, b: Array, special: Array) -> float:
    """Return one exact sum of products through integers, which is slow and has no limits."""
    if len(
        special
    ):  # Infinities and NaN decide alone: a product of numbers is finite, however large.
        products = a[special] * b[special]
        return float(sum_groups(products, None, 1, products.dtype)[0])
    total = 0
    for left, right in zip(a.tolist(), b.tolist(), strict=True):
        (m, p), (n, q) = left.as_integer_ratio(), right.as_integer_ratio()
        total += (m * n) << (2 * _TINY - (p * q).bit_length() + 1)
    return round_fraction(total, 2 * _TINY)
