"""Sums by group, and a stable order: results that do not depend on the order in which the pairs come.

``np.add.at``, ``np.bincount`` and ``torch.index_add_`` add in the order of the input, and on several threads in none. Here
each group is added exactly and rounded once.

Invariant: a permutation of the pairs of ``histogram`` or ``scatter_add`` changes no bit.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from twice.errors import NumericRefused
from twice.numeric.exact import sum_groups, sum_integers
from twice.numeric.operands import (
    Array,
    convert_result,
    move_axis,
    read_index,
    read_numbers,
    shape_error,
)


def histogram(x: Any, edges: Any, weights: Any = None) -> Any:
    """Return the number or the weight of the values in each bin, in any order of the values.

    Bin ``i`` holds ``edges[i] <= x < edges[i + 1]``; the last one holds its upper edge too. Values outside the edges and NaN
    are in no bin, as in ``np.histogram``. The weight of a bin is exact and rounded once: its error is at most
    ``u * abs(weight)``, ``u`` being 2**-53 for float64 and 2**-24 for float32. Integer weights are added exactly.

    Args:
        x: float32, float64, integers or bool, any shape.
        edges: strictly ascending, shape (k + 1,), k >= 1.
        weights: numbers, the same shape as ``x``; None counts.

    Returns:
        Shape (k,): int64 for counts and integer weights, else the type of the weights.

    Raises:
        NumericRefused: E-NUMERIC-001, for edges that do not ascend, weights of another shape or other types, and for sums
            of integers that leave int64.
    """
    values, limits = read_numbers(x, "x"), read_numbers(edges, "edges")
    if limits.ndim != 1 or len(limits) < 2 or not (limits[1:] > limits[:-1]).all():
        raise NumericRefused(
            f"The edges have the shape {limits.shape} or do not ascend.",
            "The edges of a histogram are two or more numbers, each above the one before.",
            "Sort them and drop repeated ones, for example with np.unique(edges).",
        )
    load = np.ones(values.shape, np.int64) if weights is None else read_numbers(weights, "weights")
    if load.shape != values.shape:
        raise shape_error(values, load, "Each value has one weight.")
    values, load = values.reshape(-1), load.reshape(-1)
    is_inside = (values >= limits[0]) & (values <= limits[-1])
    values, load = values[is_inside], load[is_inside]
    bins = np.searchsorted(limits, values, side="right") - 1
    bins[values == limits[-1]] = len(limits) - 2
    return convert_result(_sum_loads(load, bins, len(limits) - 1, "weights"), x, edges, weights)


def scatter_add(target: Any, index: Any, values: Any) -> Any:
    """Return a copy of ``target`` with ``values[i]`` added at row ``index[i]``, in any order of the pairs.

    Row ``j`` of the result is ``target[j]`` and all values for it, added exactly and rounded once: its error is at most
    ``u * abs(row)``, as for ``histogram``. A row without values stays as it is. Use it for ``np.add.at``, ``np.bincount`` and ``torch.index_add``.

    Args:
        target: numbers, shape (m, …); it is not changed.
        index: integers from 0 to m - 1, shape (n,).
        values: shape (n, …), floats if ``target`` has floats, integers if it has integers.

    Returns:
        The shape of ``target``: int64, or the wider of the two float types.

    Raises:
        NumericRefused: E-NUMERIC-001, for a position outside the target, shapes that do not fit, floats with integers, and
            sums of integers that leave int64.
    """
    base, parts = read_numbers(target, "target"), read_numbers(values, "values")
    if base.ndim == 0:
        raise shape_error(base, parts, "A target has at least one axis.")
    positions = read_index(index, "index", len(base))
    if parts.shape != (len(positions), *base.shape[1:]):
        expected = (len(positions), *base.shape[1:])
        raise shape_error(base, parts, f"The values for this target have the shape {expected}.")
    if base.dtype.kind != parts.dtype.kind and parts.size:
        raise NumericRefused(
            f"The target has the type {base.dtype} and the values have the type {parts.dtype}.",
            "Both are floats, or both are integers.",
            "Convert one of them where you can see the rounding.",
        )
    result = base.astype(np.result_type(base, parts) if parts.size else base.dtype)
    is_touched = np.zeros(len(base), bool)
    is_touched[positions] = True
    touched = np.flatnonzero(is_touched)
    rows = np.concatenate((np.arange(len(touched)), (np.cumsum(is_touched) - 1)[positions]))
    lanes = int(np.prod(base.shape[1:]))
    # An inner loop of one step is slow, so the common case has none.
    cells = rows if lanes == 1 else (rows[:, None] * lanes + np.arange(lanes)).reshape(-1)
    loads = np.concatenate((result[touched].reshape(-1), parts.reshape(-1)), dtype=result.dtype)
    totals = _sum_loads(loads, cells, len(touched) * lanes, "values")
    result[touched] = totals.reshape(len(touched), *base.shape[1:])
    return convert_result(result, target, index, values)


def argsort(x: Any, axis: int = -1) -> Any:
    """Return the positions that sort an array; equal elements keep their order.

    ``np.argsort`` without ``kind="stable"`` orders equal elements by the instructions that the processor has. -0.0 and 0.0
    are equal, and NaN comes last.

    Args:
        x: float32, float64, integers or bool, any shape but ().
        axis: the axis to sort along.

    Returns:
        int64 of the shape of ``x``.

    Raises:
        NumericRefused: E-NUMERIC-001, for other types and for an axis that ``x`` does not have.
    """
    array = read_numbers(x, "x")
    move_axis(array, axis)
    return convert_result(np.argsort(array, axis=axis, kind="stable").astype(np.int64), x)


def _sum_loads(loads: Array, index: Array, size: int, name: str) -> Array:
    if loads.dtype.kind == "i":
        return sum_integers(loads, index, size, name)
    with np.errstate(all="ignore"):
        return sum_groups(np.ascontiguousarray(loads), index, size, loads.dtype)
