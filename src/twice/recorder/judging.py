"""Which columns a determinism class judges.

Bit-exact judges every column whose values have no tolerance. Logical judges decisions: inputs,
output and explicit compares. Statistical judges no column; it compares summaries over many runs.
A subsystem may have a class of its own.

Invariant: a column that is not judged is still written; it is evidence.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from twice.foundation.comparison import Tolerance
from twice.foundation.determinism_class import DeterminismClass, Predicate

DECISIONS = frozenset({"inputs", "output"})


def judged_by(
    predicate: Predicate, tolerances: Callable[[], Mapping[str, Tolerance]]
) -> Callable[[str], bool]:
    """Build a function that says whether a component's column takes part in the root."""

    def judged(column: str) -> bool:
        if column in tolerances():
            return False
        kind = predicate.class_of(column)
        if kind is DeterminismClass.BIT_EXACT:
            return True
        return kind is DeterminismClass.LOGICAL and column in DECISIONS

    return judged
