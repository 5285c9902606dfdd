"""Check 7: what 06 claims to work was tried, and reading is never mixed with branching."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from twice.specifying.artifact import Artifact
from twice.specifying.gate.check import Check, gaps, place
from twice.specifying.gate.facts import Facts, there
from twice.specifying.gate.outcome import Found
from twice.specifying.tiers import Trait

_BRANCHING: Final = frozenset({"branch", "step-with", "rollback"})


def _said(facts: Facts) -> Found:
    found, sheet = gaps(facts, "06"), facts.sheet("06")
    if sheet is None or found.faults or sheet.is_memo:
        return found
    return found + Found((*_kinds(facts, sheet), *_branching(facts, sheet)))


def _kinds(facts: Facts, sheet: Artifact) -> Iterator[str]:
    where = place(facts, "06", "operations")
    for row in sheet.rows("operations"):
        operation, kind = str(row.get("operation")), row.get("kind")
        if (operation in _BRANCHING) != (kind == "branching"):
            other = "branching" if operation in _BRANCHING else "read-only"
            yield f"{where}: {operation} is {other}, not {kind}: these are two machines"
        if "workload" not in row:
            yield f"{where}: nobody said for whom {operation} is"


def _branching(facts: Facts, sheet: Artifact) -> Iterator[str]:
    claimed = any(row.get("kind") == "branching" for row in sheet.rows("operations"))
    branches = facts.situation.traits.get(Trait.BRANCHING)
    where = place(facts, "06", "operations")
    if branches is True and not claimed:
        yield f"{where}: by sheet 00 runs branch, and no operation is branching"
    if branches is False and claimed:
        yield f"{where}: an operation is branching, and by sheet 00 no run branches"


def _shown(facts: Facts) -> Found:
    tried = there(facts.operations)
    faults = tuple(
        f"{each.operation} does not work: {each.told}" for each in tried if not each.worked
    )
    evidence = tuple(f"{each.operation}: {each.told}" for each in tried if each.worked)
    return Found(faults, evidence)


CHECK: Final = Check(
    7,
    "Replay scope honesty",
    "Does 06 keep reading and branching apart, and does every operation work that it claims?",
    ("06", "00"),
    ("operations",),
    _said,
    _shown,
)
