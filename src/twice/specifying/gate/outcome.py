"""What a check came to.

Invariant: a reason is there for everything but a pass.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Outcome(StrEnum):
    """The five ends of a check."""

    PASS = "pass"  # noqa: S105  (no password)
    FAIL = "fail"
    NA = "na"
    WAIVED = "waived"
    BLOCKED = "blocked"


@dataclass(frozen=True, slots=True)
class Found:
    """What was found about one question.

    Args:
        faults: what is wrong, one sentence each, with file and line where there is one.
        evidence: what was seen to hold, in words.
        open: what could not be told, and why.
        firm: whether no waiver helps against the faults.
    """

    faults: tuple[str, ...] = ()
    evidence: tuple[str, ...] = ()
    open: tuple[str, ...] = ()
    firm: bool = False

    def __add__(self, other: Found) -> Found:
        return Found(
            self.faults + other.faults,
            self.evidence + other.evidence,
            self.open + other.open,
            (self.firm and bool(self.faults)) or (other.firm and bool(other.faults)),
        )


@dataclass(frozen=True, slots=True)
class Judged:
    """One line of the report.

    Args:
        id: the check's number, 1 to 17.
        title: its title.
        outcome: what it came to.
        evidence: what was seen.
        reason: why it is no pass; "" for a pass.
        faults: what is wrong, each by itself; kept for waived ones too.
    """

    id: int
    title: str
    outcome: Outcome
    evidence: tuple[str, ...]
    reason: str
    faults: tuple[str, ...] = ()

    def to_json(self) -> dict[str, object]:
        """As an entry of ``checks``."""
        return {
            "id": self.id,
            "title": self.title,
            "outcome": self.outcome.value,
            "evidence": list(self.evidence),
            "reason": self.reason,
            "faults": list(self.faults),
        }
