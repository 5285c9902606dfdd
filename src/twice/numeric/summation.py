"""The four orders of a sum, along the first axis of an array.

Each order uses only elementwise additions, which IEEE 754 rounds in one way, and ``np.add.accumulate``, which is defined
as the loop from left to right. ``np.add.reduce`` is not used for floats: its order follows strides and releases.
Checking operands is not done here, and NaN keeps the sign and payload that the processor gave it.

Invariant: the result for one lane is the same whatever the other lanes are, and however many.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, Literal, assert_never, get_args

import numpy as np

from twice.errors import NumericRefused
from twice.numeric.exact import sum_groups
from twice.numeric.operands import Array

Method = Literal["pairwise", "sequential", "neumaier", "exact"]

_BLOCK: Final = 1 << 14  # elements of a running sum that are in the cache at a time
LANES_MANY: Final = 64  # from here one addition of whole rows is faster than numpy's loop


def check_method(method: str) -> Method:
    """Return the method; raise NumericRefused (E-NUMERIC-001) if there is none of that name."""
    for known in get_args(Method):
        if method == known:
            return known  # type: ignore[no-any-return]
    raise NumericRefused(
        f"There is no method {method!r} of a fixed sum.",
        f"The methods are {', '.join(get_args(Method))}.",
        'Leave it out for "pairwise".',
    )


def sum_rows(terms: Array, method: Method) -> Array:
    """Add the rows of an array of float32 or float64: shape ``(n, …)`` in, shape ``(…)`` of the same type out."""
    if len(terms) == 0:
        return np.zeros(terms.shape[1:], terms.dtype)
    if method == "pairwise":
        return sum_pairwise(terms)
    if method == "sequential":
        total: Array = terms[0].copy()
        if terms[0].size >= LANES_MANY:
            for row in terms[1:]:
                total += row
            return total
        for rows in _split_rows(terms):
            total = _add_running(total, terms[rows])[-1]
        return total
    if method == "neumaier":
        return sum_compensated(terms)
    if method == "exact":
        lanes = terms[0].size
        index = None if lanes == 1 else np.broadcast_to(np.arange(lanes), (len(terms), lanes))
        values = np.ascontiguousarray(terms).reshape(-1)
        return sum_groups(values, index, lanes, terms.dtype).reshape(terms.shape[1:])
    assert_never(method)


def sum_pairwise(terms: Array, *, overwrite: bool = False) -> Array:
    """Add the upper half of the rows to the lower half until one is left; an odd middle row waits a round.

    Halves instead of neighbours keep every addition contiguous, at the same depth of ceil(log2(n)). Lines of rows that stay
    in the cache were tried: no faster at a million terms, and slower along the last axis.
    """
    total, count = terms, len(terms)
    if not overwrite:
        half = (count + 1) // 2
        total = np.empty_like(terms[:half])
        np.add(terms[: count - half], terms[half:], out=total[: count - half])
        total[count - half :] = terms[count - half : half]
        count = half
    while count > 1:
        half = (count + 1) // 2
        total[: count - half] += total[half:count]
        count = half
    last: Array = total[0]
    return last


def sum_compensated(terms: Array, errors: Array | None = None) -> Array:
    """Add from left to right beside the sum of the rounding errors, which is added at the end.

    The running sums need no errors, so they come first; the error of each step is then elementwise.

    Args:
        terms: shape ``(n, …)``, at least one row.
        errors: what the terms themselves lack, of the same shape; it joins the rounding errors.

    Source: Neumaier 1974, Algorithm IV, with the errors of Knuth's TwoSum, which are the same without a branch; with
    ``errors``, Ogita, Rump and Oishi 2005, Algorithm 5.3 (Dot2).
    """
    total = terms[0]
    missing = np.zeros_like(total) if errors is None else errors[0]
    if total.size >= LANES_MANY:
        missing = missing.copy()
        for at in range(1, len(terms)):
            before, total = total, total + terms[at]
            missing += find_error(before, terms[at], total, None if errors is None else errors[at])
    else:
        for rows in _split_rows(terms):
            part = terms[rows]
            running = _add_running(total, part)
            lost = None if errors is None else errors[rows]
            step = find_error(running[:-1], part, running[1:], lost)
            missing = _add_running(missing, step)[-1]
            total = running[-1]
    return correct_sum(total, missing)


def correct_sum(total: Array, missing: Array) -> Array:
    """Add the errors to a sum; beyond the largest number they are NaN, and the plain sum says what IEEE 754 says."""
    corrected: Array = np.where(np.isfinite(missing), total + missing, total)
    return corrected


def find_error(before: Array, part: Array, after: Array, lost: Array | None) -> Array:
    """Return ``before + part - after``, and what the part itself lacks."""
    virtual = after - before
    error: Array = before - (after - virtual)
    error += part - virtual
    return error if lost is None else error + lost


def _split_rows(terms: Array) -> Iterator[slice]:
    """Yield slices of all rows but the first, each of about one block."""
    step = max(1, _BLOCK // max(1, terms[0].size))
    for start in range(1, len(terms), step):
        yield slice(start, start + step)


def _add_running(total: Array, rows: Array) -> Array:
    """Return the running sums of the rows from ``total`` on, which comes first."""
    sums: Array = np.add.accumulate(np.concatenate((total[None], rows)), axis=0)
    return sums
