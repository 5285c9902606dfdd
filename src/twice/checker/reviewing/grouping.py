"""Findings of one rule and one severity together, for people: what is said of each is said once.

Invariant: groups are in the order of their first finding, and no finding is in two.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from twice.checker.reviewing.judgement import Standing
from twice.checker.reviewing.review import Judged
from twice.foundation.severity import Severity


@dataclass(frozen=True, slots=True)
class Group:
    """Findings of one rule and one severity.

    Args:
        items: the findings, at least one.
    """

    items: tuple[Judged, ...]

    @property
    def first(self) -> Judged:
        """The one that speaks for all: rule, severity, kind, risk and remedy are theirs together."""
        return self.items[0]

    @property
    def severity(self) -> Severity:
        """How badly the class is broken."""
        return self.first.finding.severity

    @property
    def rule(self) -> str:
        """The rule's name."""
        return self.first.finding.found.rule

    @property
    def kind(self) -> str:
        """What kind of gap it is and how the specification stands to it, as a sentence."""
        kind = self.first.kind.value.replace("-", " ").capitalize()
        number = self.first.finding.artifact
        match self.first.standing:
            case Standing.NO_SPECIFICATION:
                return f"{kind}; belongs in artifact {number}."
            case Standing.UNSPECIFIED:
                return f"{kind}; unspecified channel: artifact {number} is missing."
            case Standing.MISMATCH:
                return f"{kind}; specification and code disagree: artifact {number} is there."

    @property
    def risk(self) -> str:
        """What no longer works, as a sentence."""
        return f"Breaks {self.first.victim.value}: {self.first.risk}"

    @property
    def why(self) -> str:
        """How runs come to differ, when it is the same for several; "" otherwise."""
        first = _why(self.first)[0]
        same = all(_why(each)[0] == first for each in self.items)
        return f"{first}." if same and len(self.items) > 1 else ""

    def said(self, each: Judged) -> str:
        """Return the text of one finding, without the text that all findings share."""
        found = each.finding.found
        tail = _why(each)[1]
        if not self.why:
            return f"{found.message} {found.why}"
        return f"{found.message} {tail[:1].upper()}{tail[1:]}".rstrip()


def _why(each: Judged) -> tuple[str, str]:
    """How runs come to differ, and what becomes of the value, which a rule says after a semicolon."""
    why, _, tail = each.finding.found.why.partition("; ")
    return why.rstrip("."), tail


def grouped(findings: Sequence[Judged], least: Severity) -> tuple[Group, ...]:
    """Put findings of one rule and one severity together.

    Args:
        findings: in the order of the review.
        least: findings below are left out.
    """
    groups: dict[tuple[Severity, str], list[Judged]] = {}
    for each in findings:
        if each.finding.severity >= least:
            key = (each.finding.severity, each.finding.found.rule)
            groups.setdefault(key, []).append(each)
    return tuple(Group(tuple(items)) for items in groups.values())
