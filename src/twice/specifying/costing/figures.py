"""Figures of several rounds: medians with the lowest and highest, and differences taken round by round.

Invariant: pure; a figure always comes with its spread.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Spread:
    """One figure over the rounds.

    Args:
        median: of the rounds.
        lowest: the least round.
        highest: the greatest.
    """

    median: float
    lowest: float
    highest: float

    @classmethod
    def of(cls, samples: Sequence[float]) -> Spread:
        """Take one sample per round, at least one."""
        assert samples, "a figure has at least one round"
        return cls(statistics.median(samples), min(samples), max(samples))

    def to_json(self, digits: int) -> dict[str, float]:
        """Plain values, rounded; whole numbers where ``digits`` is 0."""
        return {
            "median": _rounded(self.median, digits),
            "lowest": _rounded(self.lowest, digits),
            "highest": _rounded(self.highest, digits),
        }

    def to_text(self, digits: int, unit: str) -> str:
        """For people: ``+12.3 % (11.0 to 14.1)``."""
        low, high = (f"{each:+,.{digits}f}" for each in (self.lowest, self.highest))
        said = f"{self.median:+,.{digits}f} {unit}"
        return said if low == high else f"{said} ({low} to {high})"

    @property
    def is_measurable(self) -> bool:
        """Whether, as a cost, it is told from none: its median is not below zero within its own spread."""
        return not self.median < 0 <= self.highest

    def to_cost(self, digits: int, unit: str) -> str:
        """For people, of what something costs: as ``to_text``, or that it is not measurable."""
        if self.is_measurable:
            return self.to_text(digits, unit)
        low, high = (f"{each:+,.{digits}f}" for each in (self.lowest, self.highest))
        return f"not measurable, within the spread ({low} to {high} {unit})"


def _rounded(value: float, digits: int) -> float:
    return round(value, digits) + 0.0 if digits else round(value)


@dataclass(frozen=True, slots=True)
class Took:
    """What one run took.

    Args:
        wall_s: seconds of the program itself, its record closed.
        cpu_s: CPU seconds of the same, all threads and waited-for children.
        start_cpu_s: CPU seconds before the program was loaded.
        ticks: ticks of the run.
        size: bytes of its record; 0 where none was written.
    """

    wall_s: float
    cpu_s: float
    start_cpu_s: float
    ticks: int
    size: int


@dataclass(frozen=True, slots=True)
class Added:
    """What something adds, round by round.

    Args:
        wall_s: seconds.
        cpu_s: CPU seconds.
        wall_percent: of the seconds that the bare program took in the same round.
        cpu_percent: of its CPU seconds.
        size: bytes of the record.
    """

    wall_s: Spread
    cpu_s: Spread
    wall_percent: Spread
    cpu_percent: Spread
    size: Spread

    def percent(self, by: str) -> Spread:
        """By ``wall`` or ``cpu``."""
        return self.wall_percent if by == "wall" else self.cpu_percent

    def to_json(self) -> dict[str, object]:
        """Plain values."""
        return {
            "wall_s": self.wall_s.to_json(6),
            "cpu_s": self.cpu_s.to_json(6),
            "wall_percent": self.wall_percent.to_json(2),
            "cpu_percent": self.cpu_percent.to_json(2),
            "bytes": self.size.to_json(0),
        }


def added(with_it: Sequence[Took], without: Sequence[Took], bare: Sequence[Took]) -> Added:
    """Give what runs took more than others; all three hold the same rounds, in order."""
    pairs = list(zip(with_it, without, bare, strict=True))
    return Added(
        Spread.of([a.wall_s - b.wall_s for a, b, _ in pairs]),
        Spread.of([a.cpu_s - b.cpu_s for a, b, _ in pairs]),
        Spread.of([_percent(a.wall_s - b.wall_s, of.wall_s) for a, b, of in pairs]),
        Spread.of([_percent(a.cpu_s - b.cpu_s, of.cpu_s) for a, b, of in pairs]),
        Spread.of([a.size - b.size for a, b, _ in pairs]),
    )


_LEAST_S = 1e-6  # what a clock tells apart: a program that takes no time has no percentages


def _percent(part: float, whole: float) -> float:
    return 100 * part / max(whole, _LEAST_S)


def orders(count: int, rounds: int) -> list[list[int]]:
    """Give in which order ``count`` runs are made, round by round: each begins further on.

    A machine that slows down, or a cache that fills, falls on every run alike.
    """
    turns = [(at * count) // rounds for at in range(rounds)]
    return [[(turn + at) % count for at in range(count)] for turn in turns]
