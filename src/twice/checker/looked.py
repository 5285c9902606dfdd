"""What one file gave, as a value: made by ``local``, kept by ``caching``, weighed by ``judging``.

Invariant: it needs neither the rules nor the file to be used.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Self

from twice.checker.accepting.comments import Remarks
from twice.checker.findings import SourceSpan, Violation
from twice.checker.housekeeping import UNREADABLE


@dataclass(frozen=True, slots=True)
class FileResult:
    """What one file gave.

    Args:
        found: what the rules found, in source order.
        facts: for each name of facts, what was gathered here.
        lines: how many lines the file has.
        remarks: what its comments say to the checker.
    """

    found: tuple[Violation, ...]
    facts: dict[str, Any] = field(default_factory=dict)
    lines: int = 0
    remarks: Remarks = field(default_factory=Remarks)

    def to_json(self) -> dict[str, Any]:
        """Give plain values for the cache, without the facts: they are kept apart."""
        said = self.remarks
        return {
            "found": [each.to_json() for each in self.found],
            "lines": self.lines,
            "remarks": said.to_json() if said.ignores or said.boundaries else None,
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any], facts: dict[str, Any] | None = None) -> Self:
        """Read back what ``to_json`` gave."""
        said = data["remarks"]
        return cls(
            tuple(Violation.from_json(each) for each in data["found"]),
            facts or {},
            data["lines"],
            Remarks() if said is None else Remarks.from_json(said),
        )


_NOT_CHECKED: Final = "The file was not checked: "


def unreadable(reason: str, line: int = 1) -> Violation:
    """Give the finding of a file that could not be read."""
    return Violation(
        rule=UNREADABLE,
        place=SourceSpan(line, 1, line, 1),
        message=f"{_NOT_CHECKED}{reason}.",
        why="What is in it is not known to be deterministic.",
        confidence=1.0,
    )


def unread_reason(found: Violation) -> str:
    """Give why a file could not be read, without the sentence around it."""
    return found.message.removeprefix(_NOT_CHECKED).removesuffix(".")
