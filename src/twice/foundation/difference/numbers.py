"""How far numbers are apart: two of them, two sequences, two arrays.

Invariant: ``differing`` counts bytes that differ, whatever the distance says.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from twice.foundation.difference.fields import FieldDifference, clipped, printed
from twice.foundation.encoding import encode
from twice.foundation.encoding.arrays import pack_array
from twice.foundation.equivalence.distances import ulps, ulps_array

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]


def magnitude_of(a: float, b: float) -> float | None:
    """The absolute difference of two numbers, or None when it is not a finite number."""
    try:
        distance = float(abs(b - a))
    except OverflowError:
        return None
    return distance if math.isfinite(distance) else None


def ulps_of(a: object, b: object) -> int | None:
    """The representable doubles between two finite floats, or None."""
    if type(a) is float and type(b) is float and math.isfinite(a) and math.isfinite(b):
        return int(ulps(a, b))
    return None


def of_numbers(path: str, a: Any, b: Any) -> FieldDifference:
    """Two numbers of one type."""
    return FieldDifference(
        path, "value", printed(a), printed(b), ulps_of(a, b), 1, 1, magnitude_of(a, b)
    )


def _largest(sizes: Sequence[Any]) -> Any:
    known = [size for size in sizes if size is not None]
    return max(known) if known else None


def of_sequences(path: str, a: Sequence[Any], b: Sequence[Any]) -> FieldDifference:
    """Two sequences of one length that hold nothing but numbers."""
    unlike = [i for i, (x, y) in enumerate(zip(a, b, strict=True)) if encode(x) != encode(y)]
    assert unlike, "sequences that differ differ somewhere"
    first = unlike[0]
    place, x, y = f"{path}[{first}]", printed(a[first]), printed(b[first])
    if sorted(map(encode, a)) == sorted(map(encode, b)):
        return FieldDifference(place, "order", x, y, None, len(unlike), len(a))
    steps = _largest([ulps_of(a[i], b[i]) for i in unlike])
    size = _largest([magnitude_of(a[i], b[i]) for i in unlike])
    return FieldDifference(place, "value", x, y, steps, len(unlike), len(a), size)


def of_arrays(path: str, a: Array, b: Array) -> FieldDifference:
    """Two arrays, or two numpy scalars, whose canonical forms differ."""
    import numpy as np

    one, two = pack_array(np.asarray(a)), pack_array(np.asarray(b))
    if one.dtype != two.dtype:
        return FieldDifference(path, "type", str(a.dtype), str(b.dtype))
    if one.shape != two.shape:
        return FieldDifference(path, "shape", str(one.shape), str(two.shape), of=max(one.size, 1))
    unlike = _unlike(one, two)
    places = np.flatnonzero(unlike)
    index = np.unravel_index(int(places[0]), one.shape) if one.shape else ()
    place = f"{path}[{', '.join(str(int(i)) for i in index)}]" if one.shape else path
    x, y = clipped(str(one[index])), clipped(str(two[index]))
    if len(places) > 1 and _same_elements(one, two):
        return FieldDifference(place, "order", x, y, None, len(places), one.size)
    steps, size = _distances(one.reshape(-1)[places], two.reshape(-1)[places])
    return FieldDifference(place, "value", x, y, steps, len(places), one.size, size)


def _items(array: Array) -> Array:
    """One row of bytes per element; padding of a structure left out."""
    import numpy as np

    if array.dtype.names is not None:
        columns = [_items(array[name]) for name in array.dtype.names]
        return np.hstack([column.reshape(array.size, -1) for column in columns])
    return np.ascontiguousarray(array).reshape(-1).view("u1").reshape(array.size, -1)


def _unlike(a: Array, b: Array) -> Array:
    differ: Array = (_items(a) != _items(b)).any(axis=1)
    return differ


def _same_elements(a: Array, b: Array) -> bool:
    import numpy as np

    rows = [np.ascontiguousarray(_items(x)) for x in (a, b)]
    # Fixed-width byte strings sort by memcmp; their equal width makes trailing zeros harmless.
    one, two = (np.sort(row.view(f"S{row.shape[1]}").reshape(-1)) for row in rows)
    return bool((one == two).all())


def _distances(a: Array, b: Array) -> tuple[int | None, float | None]:
    """The most ULPs and the largest absolute difference, where they are finite."""
    import numpy as np

    kind = a.dtype.kind
    if kind == "c":
        parts = f"f{a.dtype.itemsize // 2}"
        a, b, kind = a.view(parts), b.view(parts), "f"
    if kind not in "iuf":
        return None, None
    if kind in "iu":
        pairs = zip(a.tolist(), b.tolist(), strict=True)
        return None, float(max(abs(y - x) for x, y in pairs))
    finite = np.isfinite(a) & np.isfinite(b)
    if not finite.any():
        return None, None
    a, b = a[finite], b[finite]
    with np.errstate(all="ignore"):
        size = float(np.abs(b.astype("f8") - a.astype("f8")).max())
    return int(ulps_array(a, b).max()), size if math.isfinite(size) else None
