"""What a tool promises, what a caller requires, and whether the first is enough for the second.

Two lattices that must not be mixed. Guarantees combine downwards: a sequence of steps guarantees
what its weakest step does. Requirements combine upwards: whoever asks for most is heard.

Invariant: nothing here weakens a requirement to meet a guarantee.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class Determinism(StrEnum):
    """The class that a tool declares, exactly one.

    ``DETERMINISTIC``: same arguments, contract and state give the same result and state.
    ``SEEDED``: the same, given the seed.
    ``NONDETERMINISTIC``: neither; runs only where the session contract permits it.
    """

    DETERMINISTIC = "deterministic"
    SEEDED = "seeded"
    NONDETERMINISTIC = "nondeterministic"


class Level(StrEnum):
    """How far a declaration was tried, from the least."""

    DECLARED = "declared"
    STATIC = "static"
    RERUN = "rerun"
    PERTURBED = "perturbed"
    CROSS_HOST = "cross-host"


_STRENGTH: Final = {each: -at for at, each in enumerate(Determinism)}
_LEVELS: Final = {each: at for at, each in enumerate(Level)}


@dataclass(frozen=True)
class Requirement:
    """What a caller asks for.

    Attributes:
        determinism: the weakest class that will do; None asks for nothing. A seeded tool does not
            meet ``DETERMINISTIC``: its result depends on something besides arguments and state.
        level: how far a declaration must have been tried.
    """

    determinism: Determinism | None = None
    level: Level = Level.DECLARED

    def and_also(self, other: Requirement) -> Requirement:
        """Return the requirement that meets both: the stricter in each respect."""
        asked = [each for each in (self.determinism, other.determinism) if each is not None]
        return Requirement(
            max(asked, key=_STRENGTH.__getitem__, default=None),
            max(self.level, other.level, key=_LEVELS.__getitem__),
        )

    def met_by(self, guarantee: Determinism) -> bool:
        """Whether a guarantee is enough."""
        return self.determinism is None or _STRENGTH[guarantee] >= _STRENGTH[self.determinism]

    def tried_by(self, level: Level) -> bool:
        """Whether a declaration was tried far enough."""
        return _LEVELS[level] >= _LEVELS[self.level]


def weakest(guarantees: Iterable[Determinism]) -> Determinism:
    """Return the joint guarantee of steps; no steps change nothing, which is deterministic."""
    return min(guarantees, key=_STRENGTH.__getitem__, default=Determinism.DETERMINISTIC)
