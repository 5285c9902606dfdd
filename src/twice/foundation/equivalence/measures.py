"""Exact, Abs, Rel, Ulp, Quantum: what "the same" means for a number, as a value one can print.

A tolerance speaks of floating-point numbers. Everything else (text, structure, shapes, types, and
integers unless ``integers=True``) is compared exactly under each of them.

Invariant: ``equivalence_from_json(e.to_json()) == e``.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from twice.errors import ClassRefused
from twice.foundation.equivalence import distances
from twice.foundation.equivalence.walking import Verdict, compare

if TYPE_CHECKING:
    from twice.foundation.equivalence.distances import Array


class Equivalence(ABC):
    """One meaning of "the same", with a distance and a limit."""

    measure: ClassVar[str]
    integers: bool = False

    def same(self, recorded: object, replayed: object) -> Verdict:
        """Compare two values, the recorded one being the reference.

        Args:
            recorded: a nested value of plain values, dataclasses and numpy arrays.
            replayed: the same from another run.

        Returns:
            Whether they are the same, the largest distance in the measure's unit (None where
            structure, type or text differs), and the path of that difference.
        """
        return compare(self, recorded, replayed)

    @property
    @abstractmethod
    def limit(self) -> float:
        """The largest distance that still counts as the same."""

    @abstractmethod
    def distance(self, recorded: float, replayed: float, width: int = 8) -> float:
        """How far two floats of ``width`` bytes are apart."""

    @abstractmethod
    def distance_array(self, recorded: Array, replayed: Array) -> Array:
        """How far two float arrays of one shape are apart, by element."""

    @abstractmethod
    def describe(self) -> str:
        """Say it in words that fit after "values are the same when"."""

    def to_json(self) -> dict[str, object]:
        """Give plain values."""
        fields: dict[str, object] = asdict(self)  # type: ignore[call-overload]  # leaves are dataclasses
        return {"measure": self.measure, **fields}

    def __str__(self) -> str:
        return f"{self.measure}:{self.limit!r}"


@dataclass(frozen=True, slots=True)
class Exact(Equivalence):
    """Every value equal; the two zeros differ, NaN equals NaN."""

    measure: ClassVar[str] = "exact"

    @property
    def limit(self) -> float:
        """No distance is allowed."""
        return 0.0

    def distance(self, recorded: float, replayed: float, width: int = 8) -> float:
        """Give 0 or the difference."""
        return distances.exact(recorded, replayed, width)

    def distance_array(self, recorded: Array, replayed: Array) -> Array:
        """Give 0 or the difference, by element."""
        return distances.exact_array(recorded, replayed)

    def describe(self) -> str:
        """Say it in words."""
        return "they are equal"

    def __str__(self) -> str:
        return self.measure


@dataclass(frozen=True, slots=True)
class Abs(Equivalence):
    """At most ``epsilon`` apart, in the value's own unit; ``epsilon`` >= 0."""

    measure: ClassVar[str] = "abs"
    epsilon: float
    integers: bool = False

    def __post_init__(self) -> None:
        _check(self.measure, self.epsilon, integers=self.integers)

    @property
    def limit(self) -> float:
        """Epsilon."""
        return self.epsilon

    def distance(self, recorded: float, replayed: float, width: int = 8) -> float:
        """Give the difference."""
        return distances.absolute(recorded, replayed, width)

    def distance_array(self, recorded: Array, replayed: Array) -> Array:
        """Give the difference, by element."""
        return distances.absolute_array(recorded, replayed)

    def describe(self) -> str:
        """Say it in words."""
        return f"they differ by at most {self.epsilon!r}"


@dataclass(frozen=True, slots=True)
class Rel(Equivalence):
    """At most ``epsilon`` times the recorded magnitude apart; ``epsilon`` >= 0."""

    measure: ClassVar[str] = "rel"
    epsilon: float
    integers: bool = False

    def __post_init__(self) -> None:
        _check(self.measure, self.epsilon, integers=self.integers)

    @property
    def limit(self) -> float:
        """Epsilon."""
        return self.epsilon

    def distance(self, recorded: float, replayed: float, width: int = 8) -> float:
        """Give the difference in parts of the recorded value."""
        return distances.relative(recorded, replayed, width)

    def distance_array(self, recorded: Array, replayed: Array) -> Array:
        """Give the difference in parts of the recorded value, by element."""
        return distances.relative_array(recorded, replayed)

    def describe(self) -> str:
        """Say it in words."""
        return f"they differ by at most {self.epsilon!r} times the recorded value"


@dataclass(frozen=True, slots=True)
class Ulp(Equivalence):
    """At most ``n`` representable values apart, in the value's own precision; ``n`` >= 0."""

    measure: ClassVar[str] = "ulp"
    n: int

    def __post_init__(self) -> None:
        if type(self.n) is not int or self.n < 0:
            raise _refused(f"ulp:{self.n!r}", "A count of ulps is an integer, 0 or more.")

    @property
    def limit(self) -> float:
        """The number of ulps."""
        return float(self.n)

    def distance(self, recorded: float, replayed: float, width: int = 8) -> float:
        """Give the number of representable values between."""
        return distances.ulps(recorded, replayed, width)

    def distance_array(self, recorded: Array, replayed: Array) -> Array:
        """Give the number of representable values between, by element."""
        return distances.ulps_array(recorded, replayed)

    def describe(self) -> str:
        """Say it in words."""
        return f"they are at most {self.n} representable values apart"

    def __str__(self) -> str:
        return f"{self.measure}:{self.n}"


@dataclass(frozen=True, slots=True)
class Quantum(Equivalence):
    """Equal once rounded to multiples of ``step`` > 0, half to even: a decision boundary."""

    measure: ClassVar[str] = "quantum"
    step: float
    integers: bool = False

    def __post_init__(self) -> None:
        _check(self.measure, self.step, integers=self.integers)
        if self.step == 0:
            raise _refused("quantum:0", "A step is greater than 0.")

    @property
    def limit(self) -> float:
        """Nothing: rounded values are equal or not."""
        return 0.0

    def distance(self, recorded: float, replayed: float, width: int = 8) -> float:  # noqa: ARG002 - steps have no width
        """Give the difference in steps."""
        return distances.quanta(recorded, replayed, self.step)

    def distance_array(self, recorded: Array, replayed: Array) -> Array:
        """Give the difference in steps, by element."""
        return distances.quanta_array(recorded, replayed, self.step)

    def describe(self) -> str:
        """Say it in words."""
        return f"they are equal once rounded to multiples of {self.step!r}, half to even"

    def __str__(self) -> str:
        return f"{self.measure}:{self.step!r}"


def parse_equivalence(text: str) -> Equivalence:
    """Read ``exact``, ``abs:1e-6``, ``rel:1e-6``, ``ulp:4`` or ``quantum:0.01``.

    Raises:
        ClassRefused: E-CLASS-001, for anything else.
    """
    measure, _, amount = text.strip().partition(":")
    try:
        match measure:
            case "exact" if not amount:
                return Exact()
            case "abs":
                return Abs(float(amount))
            case "rel":
                return Rel(float(amount))
            case "ulp":
                return Ulp(int(amount))
            case "quantum":
                return Quantum(float(amount))
    except ClassRefused:
        raise
    except ValueError:
        pass
    raise _refused(text, "A tolerance is exact, abs:E, rel:E, ulp:N or quantum:STEP.")


def equivalence_from_json(data: Mapping[str, Any]) -> Equivalence:
    """Read back what ``to_json`` gave.

    Raises:
        ClassRefused: E-CLASS-001, for an unknown measure or other fields.
    """
    fields = {key: value for key, value in data.items() if key != "measure"}
    kinds: dict[str, type[Equivalence]] = {
        kind.measure: kind for kind in (Exact, Abs, Rel, Ulp, Quantum)
    }
    kind = kinds.get(str(data.get("measure")))
    if kind is not None:
        try:
            return kind(**fields)
        except TypeError:
            pass
    raise _refused(str(dict(data)), "A tolerance has a known measure and that measure's fields.")


def _check(measure: str, amount: object, *, integers: object) -> None:
    given = f"{measure}:{amount!r}"
    if isinstance(amount, bool) or not isinstance(amount, int | float):
        raise _refused(given, "A tolerance is a number.")
    if not math.isfinite(amount) or amount < 0:
        raise _refused(given, "A tolerance is finite and 0 or more.")
    if not isinstance(integers, bool):
        raise _refused(f"{given}, integers={integers!r}", "Integers are in or out: True or False.")


def _refused(given: str, expected: str) -> ClassRefused:
    return ClassRefused(
        f"The tolerance {given} does not make sense.",
        expected,
        "Give one, for example abs:1e-6.",
        given=given,
    )
