"""The class that sheet 01 declares, as the predicate that verification executes.

Invariant: what cannot be executed is refuse_class, so a sentence alone is never a class.
"""

from __future__ import annotations

from twice.errors import ClassRefused
from twice.foundation.comparison import Exact, Tolerance, tolerance_of
from twice.foundation.determinism_class import (
    DeterminismClass,
    Predicate,
    SampleTest,
    Summary,
    parse_class,
    parse_scope,
    refuse_class,
)
from twice.specifying.artifact import Artifact


def predicate_of(promise: Artifact) -> Predicate:
    """Give the predicate of sheet 01.

    Raises:
        ClassRefused: E-CLASS-001, when what it says makes no class.
    """
    kind = parse_class(promise.said("class"))
    own = {
        str(row["name"]): parse_class(str(row["class"]))
        for row in promise.rows("subsystems")
        if "name" in row and "class" in row
    }
    sample = _sample(promise) if kind is DeterminismClass.STATISTICAL else None
    decisions = _decisions(promise) if kind is DeterminismClass.LOGICAL else Exact()
    return Predicate(kind, parse_scope(promise.said("scope")), own, decisions, sample)


def _decisions(promise: Artifact) -> Tolerance:
    measure, within = promise.said("measure") or "exact", promise.said("epsilon")
    # Sheet 08 wants an epsilon beside an exact class as well: 0.
    if measure == "exact":
        return Exact()
    return tolerance_of(measure, float(within) if within else None)


def _sample(promise: Artifact) -> Summary:
    seeds = promise.get("seeds")
    if not promise.said("summary") or not isinstance(seeds, int):
        raise refuse_class(
            "statistical class", "It names a summary, and how many seeds a sample has."
        )
    return Summary(
        promise.said("summary"),
        SampleTest(promise.said("test") or "mean"),
        float(promise.said("epsilon") or 0),
        seeds,
        float(promise.said("power") or "0.8"),
    )


def predicate_or_default(promise: Artifact | None) -> Predicate:
    """Give the predicate, or the strictest one where none can be made: check 2 tells of that."""
    try:
        return Predicate() if promise is None else predicate_of(promise)
    except (ClassRefused, ValueError):
        return Predicate()
