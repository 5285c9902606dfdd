"""Comparing nested values leaf by leaf, with one distance and one path at the end.

Types, keys, lengths, shapes and dtypes must match; the order of a mapping's keys does not count.
Paths read like the expression that reaches the leaf: ``.agents[3].speed``.

Invariant: the answer does not depend on the order in which the leaves are visited.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from twice.foundation.equivalence.distances import Array

_PAST_SIGHT = 200
"""Deeper values are compared by ``==``: each level takes stack, and Python's is short."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a comparison found.

    Attributes:
        same: whether the values are equivalent.
        distance: the largest distance found, 0 where nothing differs; None where a difference
            has none (text, structure, type).
        where: path of the largest distance, or of the first difference that has none; None where
            nothing differs.
    """

    same: bool
    distance: float | None
    where: str | None

    def __bool__(self) -> bool:
        return self.same


class Measure(Protocol):
    """The part of an equivalence that the walk needs."""

    integers: bool

    @property
    def limit(self) -> float: ...  # noqa: D102 - described where it is implemented

    def distance(self, recorded: float, replayed: float, width: int = 8) -> float: ...  # noqa: D102 - as above

    def distance_array(self, recorded: Array, replayed: Array) -> Array: ...  # noqa: D102 - as above


def compare(measure: Measure, recorded: object, replayed: object) -> Verdict:
    """Compare two nested values under a measure."""
    worst, where = 0.0, None
    for path, distance in _differences(measure, recorded, replayed, "", 0):
        if distance is None:
            return Verdict(same=False, distance=None, where=path)
        if distance > worst:
            worst, where = distance, path
    return Verdict(same=worst <= measure.limit, distance=worst, where=where)


Differences = Iterator[tuple[str, float | None]]


def _differences(measure: Measure, a: Any, b: Any, path: str, depth: int) -> Differences:
    """Yield each difference as a path and a distance, or None where there is no distance."""
    if type(a) is not type(b):
        yield path, None
    elif depth > _PAST_SIGHT:
        if not _equal(a, b):
            yield path, None
    elif isinstance(a, Mapping):
        yield from _of_mappings(measure, a, b, path, depth)
    elif isinstance(a, list | tuple):
        if len(a) != len(b):
            yield path, None
            return
        for index, (first, last) in enumerate(zip(a, b, strict=True)):
            yield from _differences(measure, first, last, f"{path}[{index}]", depth + 1)
    elif is_dataclass(a) and not isinstance(a, type):
        for each in fields(a):
            first, last = getattr(a, each.name), getattr(b, each.name)
            yield from _differences(measure, first, last, f"{path}.{each.name}", depth + 1)
    else:
        yield from _of_leaves(measure, a, b, path, depth)


def _of_mappings(
    measure: Measure, a: Mapping[Any, Any], b: Mapping[Any, Any], path: str, depth: int
) -> Differences:
    for key in a:
        if key not in b:
            yield _under(path, key), None
            return
    for key in b:
        if key not in a:
            yield _under(path, key), None
            return
    for key in a:
        yield from _differences(measure, a[key], b[key], _under(path, key), depth + 1)


def _under(path: str, key: object) -> str:
    return f"{path}.{key}" if isinstance(key, str) and key.isidentifier() else f"{path}[{key!r}]"


def _of_leaves(measure: Measure, a: Any, b: Any, path: str, depth: int) -> Differences:
    if "numpy" in sys.modules:
        import numpy as np

        if isinstance(a, np.ndarray):
            yield from _of_arrays(measure, a, b, path, depth)
            return
        if isinstance(a, np.generic):
            for _, distance in _of_arrays(measure, np.asarray(a), np.asarray(b), path, depth):
                yield path, distance
            return
    if isinstance(a, complex):
        distance = max(measure.distance(a.real, b.real), measure.distance(a.imag, b.imag))
    elif isinstance(a, float):
        distance = measure.distance(a, b)
    elif isinstance(a, int) and not isinstance(a, bool) and measure.integers:
        distance = _of_integers(measure, a, b)
    else:
        if not _equal(a, b):
            yield path, None
        return
    if distance:
        yield path, distance


def _of_integers(measure: Measure, a: int, b: int) -> float:
    try:
        return 0.0 if a == b else float(measure.distance(a, b))
    except OverflowError:  # past the largest float
        return math.inf


def _of_arrays(measure: Measure, a: Array, b: Array, path: str, depth: int) -> Differences:
    import numpy as np

    kind, size = a.dtype.kind, a.dtype.itemsize
    if a.shape != b.shape or a.dtype != b.dtype:
        yield path, None
    elif a.dtype.names is not None:
        for name in a.dtype.names:
            yield from _of_arrays(measure, a[name], b[name], f"{path}[{name!r}]", depth)
    elif a.dtype.hasobject:
        for index in np.ndindex(a.shape):
            yield from _differences(measure, a[index], b[index], _at(path, index), depth + 1)
    elif kind == "c" and size <= 16:
        real = measure.distance_array(a.real, b.real)
        yield from _largest(np.maximum(real, measure.distance_array(a.imag, b.imag)), path)
    elif kind == "f" and size <= 8:
        yield from _largest(measure.distance_array(a, b), path)
    else:
        for at in np.argwhere(_unlike(a, b)):
            index = tuple(map(int, at))
            if kind not in "iu" or not measure.integers:
                yield _at(path, index), None
                return
            yield _at(path, index), _of_integers(measure, int(a[index]), int(b[index]))


def _unlike(a: Array, b: Array) -> Array:
    """Tell which elements differ; NaN is NaN and NaT is NaT; padding bytes are not looked at."""
    import numpy as np

    unlike: Array = np.asarray(a != b)
    if a.dtype.kind in "fcMm":
        unlike &= ~np.asarray((a != a) & (b != b))  # noqa: PLR0124 - asks for NaN and NaT
    if a.dtype.kind == "f":
        unlike |= np.signbit(a) != np.signbit(b)
    return unlike


def _largest(found: Array, path: str) -> Differences:
    import numpy as np

    if found.size and found.max() > 0:
        at = np.unravel_index(int(np.argmax(found)), found.shape)
        yield _at(path, tuple(map(int, at))), float(found.max())


def _at(path: str, index: tuple[int, ...]) -> str:
    return f"{path}[{', '.join(map(str, index))}]" if index else path


def _equal(a: Any, b: Any) -> bool:
    return bool(a == b)
