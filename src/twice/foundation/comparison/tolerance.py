"""Exact, Abs, Rel, Ulp, Quantum: what "the same" means for a number, as a value one can print.

A tolerance speaks of floating-point numbers. Everything else (text, structure, shapes, types, and
integers unless ``integers=True``) is compared exactly under each of them. The record is the
reference, and a tolerance is never chained from one point to the next.

Invariant: ``tolerance_from_json(t.to_json()) == t``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from twice.errors import ClassRefused
from twice.foundation.comparison import distances
from twice.foundation.dataclass import dataclass

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class Verdict:
    """The result of comparing two values under a tolerance.

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


class _Measure(NamedTuple):
    """One way of measuring, and how it is written down."""

    names: tuple[str, ...]  # of its parameters in JSON: the amount, and whether integers have it
    distance: Callable[..., float]
    distance_array: Callable[..., Any]
    words: str


_MEASURES: Final[dict[str, _Measure]] = {
    "exact": _Measure(
        (), distances.measure_exact, distances.measure_exact_array, "they are equal"
    ),
    "abs": _Measure(
        ("epsilon", "integers"), distances.measure_absolute, distances.measure_absolute_array,
        "they differ by at most {!r}",
    ),
    "rel": _Measure(
        ("epsilon", "integers"), distances.measure_relative, distances.measure_relative_array,
        "they differ by at most {!r} times the recorded value",
    ),
    "ulp": _Measure(
        ("n",), distances.count_ulps, distances.count_ulps_array,
        "they are at most {!r} representable values apart",
    ),
    "quantum": _Measure(
        ("step", "integers"), distances.count_quanta, distances.count_quanta_array,
        "they are equal once rounded to multiples of {!r}, half to even",
    ),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Tolerance:
    """One meaning of "the same", with a distance and a limit. Made by ``Exact``, ``Abs``, … below.

    Args:
        measure: ``exact``, ``abs``, ``rel``, ``ulp`` or ``quantum``.
        amount: epsilon in the value's own unit or in parts of it, ulps, or a step; 0 for ``exact``.
        integers: whether integers have the tolerance too.

    Raises:
        ClassRefused: E-CLASS-001, for an amount that is not finite, negative, or of another type.
    """

    measure: str
    amount: float = 0
    integers: bool = False

    def __post_init__(self) -> None:
        amount: Any = self.amount  # both come from JSON or a user: of any type
        integers: Any = self.integers
        given = f"{self.measure}:{amount!r}"
        if self.measure == "ulp" and (type(amount) is not int or amount < 0):
            raise _refuse(given, "A count of ulps is an integer, 0 or more.")
        if isinstance(amount, bool) or not isinstance(amount, int | float):
            raise _refuse(given, "A tolerance is a number.")
        if not math.isfinite(amount) or amount < 0:
            raise _refuse(given, "A tolerance is finite and 0 or more.")
        if not isinstance(integers, bool):
            given += f", integers={integers!r}"
            raise _refuse(given, "Integers are in or out: True or False.")
        if self.measure == "quantum" and amount == 0:
            raise _refuse("quantum:0", "A step is greater than 0.")

    @property
    def limit(self) -> float:
        """The largest distance that still counts as the same: rounded values are equal or not."""
        return 0.0 if self.measure == "quantum" else float(self.amount)

    def same(self, recorded: object, replayed: object) -> Verdict:
        """Compare two values, the recorded one being the reference.

        Args:
            recorded: a nested value of plain values, dataclasses and numpy arrays.
            replayed: the same from another run.

        Returns:
            Whether they are the same, the largest distance in the measure's unit (None where
            structure, type or text differs), and the path of that difference.
        """
        from twice.foundation.comparison.walk import walk

        worst, where = 0.0, None
        for found in walk(recorded, replayed, root="", tolerance=self):
            if found.distance is None:
                return Verdict(same=False, distance=None, where=found.path)
            if found.distance > worst:
                worst, where = found.distance, found.path
        return Verdict(same=worst <= self.limit, distance=worst, where=where)

    def distance(self, recorded: float, replayed: float, width: int = 8) -> float:
        """Return how far two floats of ``width`` bytes are apart, in the measure's unit."""
        last = self.amount if self.measure == "quantum" else width
        return _MEASURES[self.measure].distance(recorded, replayed, last)

    def distance_array(self, recorded: Array, replayed: Array) -> Array:
        """Return how far two float arrays of one shape are apart, by element."""
        last = (self.amount,) if self.measure == "quantum" else ()
        found: Array = _MEASURES[self.measure].distance_array(recorded, replayed, *last)
        return found

    def distance_of(self, recorded: Any, replayed: Any) -> float:
        """Return how far two numbers of one type are apart; of two complex ones, the further part."""
        if isinstance(recorded, complex):
            return max(
                self.distance(recorded.real, replayed.real),
                self.distance(recorded.imag, replayed.imag),
            )
        if isinstance(recorded, float):
            return self.distance(recorded, replayed)
        try:
            return 0.0 if recorded == replayed else float(self.distance(recorded, replayed))
        except OverflowError:  # past the largest float
            return math.inf

    def measure_arrays(self, recorded: Array, replayed: Array) -> Array | None:
        """Return the distances of two arrays of one shape and dtype, or None if nothing measures it."""
        import numpy as np

        kind, size = recorded.dtype.kind, recorded.dtype.itemsize
        if kind == "f" and size <= 8:
            return self.distance_array(recorded, replayed)
        if kind == "c" and size <= 16:
            real = self.distance_array(recorded.real, replayed.real)
            return np.maximum(real, self.distance_array(recorded.imag, replayed.imag))
        if kind not in "iu" or not self.integers:
            return None
        found = np.zeros(recorded.shape)
        for at in zip(*np.nonzero(recorded != replayed), strict=True):
            # As integers of Python: 64 bits do not fit a float, nor does their difference a word.
            found[at] = self.distance_of(int(recorded[at]), int(replayed[at]))
        return found

    def describe(self) -> str:
        """Describe it in words that fit after "values are the same when"."""
        return _MEASURES[self.measure].words.format(self.amount)

    def to_json(self) -> dict[str, object]:
        """Return plain values: ``measure``, its parameter, and ``integers`` where it has a say."""
        names = _MEASURES[self.measure].names
        fields = dict(zip(names, (self.amount, self.integers), strict=False))
        return {"measure": self.measure, **fields}

    def __str__(self) -> str:
        return self.measure if self.measure == "exact" else f"{self.measure}:{self.amount!r}"


def Exact() -> Tolerance:  # noqa: N802  # a constructor, like the four below
    """Require every value to be equal; the two zeros differ, NaN equals NaN."""
    return Tolerance("exact")


def Abs(epsilon: float, integers: bool = False) -> Tolerance:  # noqa: N802
    """Allow values at most ``epsilon`` apart, in the value's own unit; ``epsilon`` >= 0."""
    return Tolerance("abs", epsilon, integers)


def Rel(epsilon: float, integers: bool = False) -> Tolerance:  # noqa: N802
    """Allow values at most ``epsilon`` times the recorded magnitude apart; ``epsilon`` >= 0."""
    return Tolerance("rel", epsilon, integers)


def Ulp(n: int) -> Tolerance:  # noqa: N802
    """Allow values at most ``n`` representable values apart, in the value's precision; ``n`` >= 0."""
    return Tolerance("ulp", n)


def Quantum(step: float, integers: bool = False) -> Tolerance:  # noqa: N802
    """Require equality after rounding to multiples of ``step`` > 0, half to even: a decision boundary."""
    return Tolerance("quantum", step, integers)


def tolerance_of(measure: str, amount: float | None) -> Tolerance:
    """Make a tolerance from words, as the command line and sheet 01 give them.

    Args:
        measure: ``exact``, ``abs``, ``rel``, ``ulp`` or ``quantum``.
        amount: its size, greater than 0; None for ``exact`` alone.

    Raises:
        ClassRefused: E-CLASS-001, for another word, and for a size that the measure cannot have.
    """
    if measure not in _MEASURES:
        raise _refuse(measure, f"One of {', '.join(_MEASURES)}.")
    if measure == "exact":
        if amount is not None:
            raise _refuse(f"exact:{amount!r}", "What is equal has no epsilon.")
        return Exact()
    if amount is None:
        raise _refuse(f"measure {measure!r} without epsilon", "A tolerance has a size.")
    if amount == 0:
        raise _refuse(f"{measure}:0", "A tolerance is greater than 0; equal values are 'exact'.")
    if measure == "ulp" and float(amount).is_integer():
        amount = int(amount)
    return Tolerance(measure, amount)


def tolerance_from_json(data: Mapping[str, Any]) -> Tolerance:
    """Build a tolerance from the JSON of ``to_json``.

    Raises:
        ClassRefused: E-CLASS-001, for an unknown measure or other fields.
    """
    measure = str(data.get("measure"))
    if measure in _MEASURES:
        names, given = _MEASURES[measure].names, data.keys() - {"measure"}
        if {*names[:1]} <= given <= {*names}:
            return Tolerance(measure, *(data[name] for name in names if name in given))
    raise _refuse(str(dict(data)), "A tolerance has a known measure and that measure's fields.")


def _refuse(given: str, expected: str) -> ClassRefused:
    return ClassRefused(
        f"The tolerance {given} does not make sense.",
        expected,
        "Give one, for example abs:1e-6.",
        given=given,
    )
