"""What comments say to the checker, as values: what they suppress, and what is wrong with them.

``suppressing`` reads them from a file's source, ``settling`` uses them.

Invariant: plain data that JSON carries both ways, because it is cached with the file's findings.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self


@dataclass(frozen=True, slots=True)
class Comment:
    """One ``# twice: ignore[...]``, or one that could not be understood.

    Args:
        line: where it stands, from 1.
        column: in characters, from 1.
        first: the first line that it holds for.
        last: the last one.
        rules: the rules that it takes away.
        reason: why, in its writer's words.
        until: the last day (``2027-01-31``) or month (``2027-01``) on which it holds; "" for ever.
        fault: what is wrong with it; "" when nothing is.
    """

    line: int
    column: int
    first: int
    last: int
    rules: tuple[str, ...] = ()
    reason: str = ""
    until: str = ""
    fault: str = ""

    def has_expired(self, today: str) -> bool:
        """Say whether its last day is over; ``today`` as 2027-01-31."""
        return bool(self.until) and today[: len(self.until)] > self.until


@dataclass(frozen=True, slots=True)
class Remarks:
    """What all the comments of a file say.

    Args:
        ignores: what is taken away, and comments with faults.
        boundaries: lines, first and last, that are declared a boundary.
    """

    ignores: tuple[Comment, ...] = ()
    boundaries: tuple[tuple[int, int], ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Give plain values for the cache."""
        return {
            "ignores": [
                [
                    each.line, each.column, each.first, each.last,
                    list(each.rules), each.reason, each.until, each.fault,
                ]
                for each in self.ignores
            ],
            "boundaries": [list(each) for each in self.boundaries],
        }  # fmt: skip

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Read back what ``to_json`` gave."""
        ignores = tuple(
            Comment(line, column, first, last, tuple(rules), reason, until, fault)
            for line, column, first, last, rules, reason, until, fault in data["ignores"]
        )
        return cls(ignores, tuple((first, last) for first, last in data["boundaries"]))
