"""Which of the surroundings that differ makes the difference? Swap them one at a time and see.

When two runs differ in several surroundings, a harmless one may stay alive beside the guilty one (a
list made from a set, beside a product whose threads differ). One factor of the other side is given
to this side; if the digests at the parting move, that factor alone is traced.

Invariant: a factor is called guilty only after an execution in which nothing else was changed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from twice.diagnosing.executions import Executed, Side, Window
from twice.recording.surroundings import Surroundings, differences, swap
from twice.worker.concurrency import run_concurrently


@dataclass(frozen=True)
class Factor:
    """One factor in which the surroundings differ, and what swapping it did.

    Attributes:
        name: ``hash seed``, ``threads``, ``env NAME`` ...
        a: its variables on side a.
        b: its variables on side b.
        flips: whether side a with this factor of b leaves side a's record; None when not tried.
    """

    name: str
    a: str
    b: str
    flips: bool | None = None


def factors_between(a: Side, b: Side) -> list[Factor]:
    """Factors in which two sides' surroundings differ, in a fixed order."""
    return [
        Factor(found.factor, found.a, found.b)
        for found in differences(a.surroundings, b.surroundings)
    ]


def swapped_one_by_one(
    a: Side, b: Side, window: Window, columns: Sequence[str], factors: Sequence[Factor]
) -> list[Factor]:
    """Give side a each factor of side b in turn, and see whether the judged columns move.

    Args:
        a: the side that is executed; it must reproduce itself.
        b: the side that factors are taken from.
        window: up to the point at which the runs part.
        columns: judged columns that differ there.
        factors: what to try.
    """
    recorded = a.record.reader.points.point(window.last).digests

    def execute(factor: Factor) -> Executed:
        return a.execute(window, None, swap(a.surroundings, b.surroundings, factor.name))

    tried = []
    executions = run_concurrently([partial(execute, factor) for factor in factors])
    for factor, executed in zip(factors, executions, strict=True):
        flips = not executed.reached or moved(executed.digests, recorded, columns)
        tried.append(Factor(factor.name, factor.a, factor.b, flips))
    return tried


def moved(
    digests: Mapping[str, bytes], recorded: Mapping[str, bytes], columns: Sequence[str]
) -> bool:
    """Whether a judged column is not what was recorded."""
    return any(digests.get(name) != recorded.get(name) for name in columns)


def guilty(factors: Sequence[Factor]) -> Factor | None:
    """The first factor that flips on its own, or None."""
    return next((factor for factor in factors if factor.flips), None)


def with_factor(a: Side, b: Side, factor: Factor) -> Surroundings:
    """Side a's surroundings with one factor of side b."""
    return swap(a.surroundings, b.surroundings, factor.name)
