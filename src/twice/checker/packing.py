"""What a file gave, as short lists: reading a few thousand of them has to take milliseconds.

Invariant: ``looked_of(pack(one)) == one`` but for the facts, which are kept apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from twice.checker.accepting.comments import Remarks
from twice.checker.findings import Edit, Fix, Reach, SourceSpan, Step, Violation
from twice.checker.looked import FileResult

_REACHES: Final = {each.value: each for each in Reach}


def pack(looked: FileResult) -> list[Any]:
    """Give plain values."""
    said = looked.remarks
    return [
        looked.lines,
        said.to_json() if said.ignores or said.boundaries else None,
        [row(each) for each in looked.found],
    ]


def looked_of(data: Sequence[Any]) -> FileResult:
    """Read back what ``pack`` gave."""
    lines, said, rows = data
    remarks = _NO_REMARKS if said is None else Remarks.from_json(said)
    return FileResult(tuple([found_of(each) for each in rows]), {}, lines, remarks)


_NO_REMARKS: Final = Remarks()


def row(found: Violation) -> list[Any]:
    """Give a finding as a list."""
    fix = found.fix
    return [
        found.rule,
        _place(found.place),
        found.message,
        found.why,
        found.reach.value,
        found.confidence,
        found.symbol,
        found.statement,
        [[_place(each.place), each.text] for each in found.steps],
        fix and [fix.title, fix.safe, [[_place(each.place), each.text] for each in fix.edits]],
    ]


def _place(place: SourceSpan) -> list[int]:
    return [place.line, place.column, place.end_line, place.end_column]


def found_of(data: Sequence[Any]) -> Violation:
    """Read back what ``row`` gave."""
    rule, place, message, why, reach, confidence, symbol, statement, steps, fix = data
    return Violation(
        rule,
        SourceSpan(*place),
        message,
        why,
        _REACHES[reach],
        confidence,
        symbol,
        statement,
        tuple([Step(SourceSpan(*at), text) for at, text in steps]),
        fix and Fix(fix[0], fix[1], tuple([Edit(SourceSpan(*at), text) for at, text in fix[2]])),
    )
