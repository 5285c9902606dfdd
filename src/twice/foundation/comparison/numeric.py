"""How far numbers are apart: two of them, two sequences, two arrays.

Without a tolerance, what differs is judged by bytes and measured in ULPs and magnitude, and the
place that is named is the first. Under one, elements at distance 0 are the same, the distance is the
only measure, and the place is that of the largest.

Invariant: ``differing`` counts elements that differ in that sense, whatever else is measured.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from twice.foundation.comparison.distances import count_ulps, count_ulps_array
from twice.foundation.comparison.field_difference import (
    FieldDifference,
    contrast,
    contrast_texts,
)
from twice.foundation.comparison.tolerance import Tolerance
from twice.foundation.encoding import encode
from twice.foundation.encoding.arrays import pack_array

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]


def compare_numbers(
    path: str, a: Sequence[Any], b: Sequence[Any], tolerance: Tolerance | None, *, indexed: bool
) -> FieldDifference | None:
    """Return how two sequences of numbers of one type and length differ, or None.

    Args:
        path: of the sequence, or of the number where it is a single one.
        a: numbers.
        b: as many numbers.
        tolerance: None compares their bytes.
        indexed: whether the place of an element is its index after the path.
    """
    distance: float | None = None
    if tolerance is None:
        unlike = [i for i, (x, y) in enumerate(zip(a, b, strict=True)) if encode(x) != encode(y)]
        at = unlike[0]
    else:
        distances = [tolerance.distance_of(x, y) for x, y in zip(a, b, strict=True)]
        unlike = [i for i, size in enumerate(distances) if size]
        if not unlike:
            return None
        at = max(unlike, key=distances.__getitem__)
        distance = distances[at]
    place = f"{path}[{at}]" if indexed else path
    x, y = contrast(a[at], b[at])
    count, of = len(unlike), len(a)
    if tolerance is not None:
        return FieldDifference(place, "value", x, y, None, count, of, None, distance)
    if count > 1 and sorted(map(encode, a)) == sorted(map(encode, b)):
        return FieldDifference(place, "order", x, y, None, count, of)
    steps = _largest([_ulps_between(a[i], b[i]) for i in unlike])
    size = _largest([_magnitude_between(a[i], b[i]) for i in unlike])
    return FieldDifference(place, "value", x, y, steps, count, of, size)


def _ulps_between(a: object, b: object) -> int | None:
    """Return the representable doubles between two finite floats, or None."""
    if type(a) is float and type(b) is float and math.isfinite(a) and math.isfinite(b):
        return int(count_ulps(a, b))
    return None


def _magnitude_between(a: Any, b: Any) -> float | None:
    """Return the absolute difference of two numbers, or None when it is not a finite number."""
    try:
        distance = float(abs(b - a))
    except OverflowError:
        return None
    return distance if math.isfinite(distance) else None


def _largest(sizes: Sequence[Any]) -> Any:
    return max((size for size in sizes if size is not None), default=None)


def compare_arrays(
    path: str, a: Any, b: Any, tolerance: Tolerance | None
) -> FieldDifference | None:
    """Return how two arrays, or two numpy scalars, differ, or None; see ``compare_numbers``."""
    import numpy as np

    one, two = np.asarray(a), np.asarray(b)
    if tolerance is None:
        one, two = pack_array(one), pack_array(two)
    if one.dtype != two.dtype:
        return FieldDifference(path, "type", str(a.dtype), str(b.dtype))
    if one.shape != two.shape:
        return FieldDifference(path, "shape", str(one.shape), str(two.shape), of=max(one.size, 1))
    distance, distances = None, None
    if tolerance is None:
        places = np.flatnonzero((_rows_of_bytes(one) != _rows_of_bytes(two)).any(axis=1))
    else:
        distances = tolerance.measure_arrays(one, two)
        places = np.flatnonzero(_find_unequal(one, two) if distances is None else distances)
        if not len(places):
            return None
    at = int(places[0])
    if distances is not None:
        at = int(np.argmax(distances))
        distance = float(distances.reshape(-1)[at])
    index = tuple(map(int, np.unravel_index(at, one.shape))) if one.shape else ()
    place = f"{path}[{', '.join(map(str, index))}]" if index else path
    x, y = contrast_texts(str(one[index]), str(two[index]))
    if tolerance is not None:
        return FieldDifference(place, "value", x, y, None, len(places), one.size, None, distance)
    if len(places) > 1 and _has_same_elements(one, two):
        return FieldDifference(place, "order", x, y, None, len(places), one.size)
    steps, size = _measure_elements(one.reshape(-1)[places], two.reshape(-1)[places])
    return FieldDifference(place, "value", x, y, steps, len(places), one.size, size)


def _rows_of_bytes(array: Array) -> Array:
    """Return one row of bytes per element; padding of a structure left out."""
    import numpy as np

    if array.dtype.names is not None:
        columns = [_rows_of_bytes(array[name]) for name in array.dtype.names]
        return np.hstack([column.reshape(array.size, -1) for column in columns])
    return np.ascontiguousarray(array).reshape(-1).view("u1").reshape(array.size, -1)


def _find_unequal(a: Array, b: Array) -> Array:
    """Return which elements differ, where NaN is NaN and NaT is NaT."""
    import numpy as np

    unlike: Array = np.asarray(a != b)
    if a.dtype.kind in "fcMm":
        unlike &= ~np.asarray((a != a) & (b != b))  # noqa: PLR0124 - asks for NaN and NaT
    if a.dtype.kind == "f":
        unlike |= np.signbit(a) != np.signbit(b)
    return unlike


def _has_same_elements(a: Array, b: Array) -> bool:
    import numpy as np

    rows = [np.ascontiguousarray(_rows_of_bytes(x)) for x in (a, b)]
    # Fixed-width byte strings sort by memcmp; their equal width makes trailing zeros harmless.
    one, two = (np.sort(row.view(f"S{row.shape[1]}").reshape(-1)) for row in rows)
    return bool((one == two).all())


def _measure_elements(a: Array, b: Array) -> tuple[int | None, float | None]:
    """Return the most ULPs and the largest absolute difference, where they are finite."""
    import numpy as np

    kind = a.dtype.kind
    if kind == "c":
        parts = f"f{a.dtype.itemsize // 2}"
        a, b, kind = a.view(parts), b.view(parts), "f"
    if kind in "iu":
        pairs = zip(a.tolist(), b.tolist(), strict=True)
        return None, float(max(abs(y - x) for x, y in pairs))
    if kind != "f":
        return None, None
    finite = np.isfinite(a) & np.isfinite(b)
    if not finite.any():
        return None, None
    a, b = a[finite], b[finite]
    with np.errstate(all="ignore"):
        size = float(np.abs(b.astype("f8") - a.astype("f8")).max())
    return int(count_ulps_array(a, b).max()), size if math.isfinite(size) else None
