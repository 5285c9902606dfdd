"""Sums, means and products of matrices in a fixed order.

This file holds the public functions and their bounds; ``summation.py`` and ``products.py`` hold the orders. In the bounds
``u`` is 2**-53 for float64 and 2**-24 for float32, ``gamma(k)`` is ``k * u / (1 - k * u)``, and no sum overflows.

Invariant: ``matmul(a, b, m)[i, j]`` has the bits of ``dot(a[i], b[:, j], m)``, and ``sum(x, 0, m)[j]`` those of
``sum(x[:, j], None, m)``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from twice.errors import NumericRefused
from twice.numeric.exact import sum_integers
from twice.numeric.operands import (
    Array,
    convert_result,
    move_axis,
    read_floats,
    read_numbers,
    shape_error,
)
from twice.numeric.products import count_lanes, sum_products
from twice.numeric.summation import Method, check_method, sum_rows


def sum(x: Any, axis: int | None = None, method: Method = "pairwise") -> Any:  # noqa: A001
    """Return the sum of an array in a fixed order.

    With ``S = sum(abs(x))`` and ``n`` the number of terms, the error is at most

    - ``pairwise``: ``gamma(ceil(log2(n))) * S`` (Higham 2002, Accuracy and Stability of Numerical Algorithms, section 4.2).
      With ``h = ceil(n / 2)`` it adds elements ``h``, ``h + 1``, … to elements 0, 1, …, and again within the first ``h``.
    - ``sequential``: ``gamma(n - 1) * S`` (Higham 2002, section 4.2). The loop ``total = total + x[i]`` from ``x[0]``.
    - ``neumaier``: ``u * abs(sum) + gamma(n - 1)**2 * S`` (Neumaier 1974, Algorithm IV; Ogita, Rump and Oishi 2005,
      Proposition 4.5). ``sequential``, and the sum of its rounding errors.
    - ``exact``: ``u * abs(sum)``, the nearest number, whatever the order of ``x``. For float64 it is ``math.fsum(x)``.

    Infinities and NaN give what IEEE 754 gives, and NaN is always the same NaN. A sum beyond the largest number is an
    infinity; ``exact`` gives one only if the exact sum is beyond it, where ``math.fsum`` raises in some orders. An empty
    sum is 0.0. Integers are added exactly, whatever the method, and give int64.

    Args:
        x: float32, float64, integers or bool, of any shape: an array, a sequence or a torch tensor in memory.
        axis: the axis to add along; None adds all elements in row-major order.
        method: ``pairwise``, ``sequential``, ``neumaier`` or ``exact``.

    Returns:
        A numpy scalar or array, or a torch tensor if ``x`` is one; of the type of ``x``, or int64.

    Raises:
        NumericRefused: E-NUMERIC-001, for another method or type, an axis that ``x`` does not have, a tensor that requires
            a gradient, or a sum of integers that leaves int64.
    """
    terms = _move_terms(read_numbers(x, "x"), axis)
    method = check_method(method)
    if terms.dtype.kind == "i":
        flat = terms.reshape(len(terms), int(np.prod(terms.shape[1:])))
        lane = np.broadcast_to(np.arange(flat.shape[1]), flat.shape).reshape(-1)
        totals = sum_integers(flat.reshape(-1), lane, flat.shape[1], "x")
        return convert_result(totals.reshape(terms.shape[1:]), x)
    with np.errstate(all="ignore"):
        return convert_result(sum_rows(terms, method), x)


def mean(x: Any, axis: int | None = None, method: Method = "pairwise") -> Any:
    """Return the sum of an array in a fixed order, divided by the number of terms.

    The division adds one rounding to the error of ``sum``: at most ``u * abs(mean)``.

    Args:
        x: float32 or float64, as in ``sum``, with at least one term for each mean.
        axis: the axis to average along; None averages all elements.
        method: as in ``sum``.

    Returns:
        A numpy scalar or array, or a torch tensor if ``x`` is one; of the type of ``x``.

    Raises:
        NumericRefused: E-NUMERIC-001, as for ``sum``, for integers, and for no terms.
    """
    terms = _move_terms(read_floats(x, "x"), axis)
    if len(terms) == 0:
        raise NumericRefused(
            f"The operand 'x' has no terms to average: axis {axis} of a {np.shape(x)} array.",
            "A mean is that of one term or more.",
            "Leave out empty batches before you average.",
        )
    with np.errstate(all="ignore"):
        totals = sum_rows(terms, check_method(method))
        return convert_result(totals / terms.dtype.type(len(terms)), x)


def dot(a: Any, b: Any, method: Method = "pairwise") -> Any:
    """Return the sum of the products of two vectors in a fixed order.

    With ``S = sum(abs(a * b))``, ``n`` the number of products, no product below the smallest normal number, and no factor
    above 2**996 (float64), the error is at most

    - ``pairwise``: ``gamma(ceil(log2(n)) + 1) * S``, and ``sequential``: ``gamma(n) * S`` (Higham 2002, sections 3.1 and 4.2).
    - ``neumaier``: ``u * abs(dot) + gamma(n)**2 * S`` (Ogita, Rump and Oishi 2005, Proposition 5.5).
    - ``exact``: ``u * abs(dot)``, the nearest number, for every product. It is slow where a product of float64 is near the
      largest or smallest number.

    Args:
        a: float32 or float64, shape (n,).
        b: the same shape. If the types differ, the result has the wider one.
        method: as in ``sum``.

    Returns:
        A numpy scalar, or a torch tensor if one of the operands is one.

    Raises:
        NumericRefused: E-NUMERIC-001, for other shapes, and as for ``sum``.
    """
    left, right = _read_factors(a, b)
    if left.ndim != 1 or left.shape != right.shape:
        raise shape_error(left, right, "dot takes two vectors of one length.")
    with np.errstate(all="ignore"):
        return convert_result(sum_products(left, right, check_method(method)), a, b)


def matmul(a: Any, b: Any, method: Method = "pairwise") -> Any:
    """Return a matrix product whose every element is the ``dot`` of a row and a column, with its bound.

    A row of the result does not depend on the other rows, so a batch of one gives the bits that a batch of 256 gives.

    Args:
        a: float32 or float64, shape (m, k), or (k,) for one row.
        b: float32 or float64, shape (k, n), or (k,) for one column.
        method: as in ``sum``.

    Returns:
        Shape (m, n) without the axes that ``a`` or ``b`` lack, as ``np.matmul``.

    Raises:
        NumericRefused: E-NUMERIC-001, for other shapes, and as for ``sum``.
    """
    left, right = _read_factors(a, b)
    method = check_method(method)
    if not 1 <= left.ndim <= 2 or not 1 <= right.ndim <= 2 or left.shape[-1] != right.shape[0]:
        raise shape_error(left, right, "matmul takes (m, k) and (k, n), or (k,) for either.")
    shape = left.shape[:-1] + right.shape[1:]
    rows = np.ascontiguousarray(np.atleast_2d(left).T)
    columns = np.ascontiguousarray(right if right.ndim == 2 else right[:, None])
    depth, height, width = len(rows), rows.shape[1], columns.shape[1]
    lanes = count_lanes(depth, method)
    across = max(1, min(width, lanes))
    down = max(1, lanes // across)
    product = np.empty((height, width), rows.dtype)
    with np.errstate(all="ignore"):
        for top in range(0, height, down):
            for start in range(0, width, across):
                tile = slice(top, top + down), slice(start, start + across)
                product[tile] = sum_products(
                    rows[:, tile[0], None], columns[:, None, tile[1]], method
                )
    return convert_result(product.reshape(shape), a, b)


def _move_terms(array: Array, axis: int | None) -> Array:
    """Return an array with the axis to add along in front; all elements in row-major order for no axis."""
    return array.reshape(-1) if axis is None else move_axis(array, axis)


def _read_factors(a: Any, b: Any) -> tuple[Array, Array]:
    left, right = read_floats(a, "a"), read_floats(b, "b")
    dtype = np.result_type(left, right)
    return left.astype(dtype, copy=False), right.astype(dtype, copy=False)
