"""What can be promised of two runs, as words: the classes, how far a promise reaches, whose machine.

What a class means, and how two runs are compared by it, is said in ``classes``.

Invariant: the words are those of every interface and file; none is renamed.
"""

from __future__ import annotations

from enum import StrEnum


class DeterminismClass(StrEnum):
    """Which two runs count as the same."""

    BIT_EXACT = "bit-exact"
    LOGICAL = "logical"
    STATISTICAL = "statistical"


class Axis(StrEnum):
    """Whose machine a promise speaks of; the two are always reported apart."""

    DETERMINISM = "determinism"
    REPRODUCIBILITY = "reproducibility"


class Scope(StrEnum):
    """How far a promise reaches."""

    PROCESS = "process"
    HOST = "host"
    CROSS_HOST = "cross-host"

    @property
    def axis(self) -> Axis:
        """Determinism on this machine, reproducibility on someone else's."""
        return Axis.REPRODUCIBILITY if self is Scope.CROSS_HOST else Axis.DETERMINISM
