"""The outcome of a check, as every format is given it.

Invariant: it is complete before anything is written; the exit code is a function of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from twice.checker.findings import Certainty, Finding
from twice.checker.housekeeping import UNREADABLE
from twice.checker.policy import Policy
from twice.checker.rule import RuleFacts
from twice.foundation.severity import Severity


@dataclass(frozen=True, slots=True)
class Accepted:
    """A finding that a comment or the baseline took away, with the reason that somebody gave."""

    finding: Finding
    reason: str


@dataclass(frozen=True, slots=True, order=True)
class Entry:
    """A finding in a baseline.

    Args:
        path: its file, from the project's folder.
        rule: its rule.
        fingerprint: names it over edits elsewhere in the file.
        severity: how bad it was then; a finding that has become worse since was not accepted.
        statement: the source, for people.
        reason: why it may stay, in somebody's words.
    """

    path: str
    rule: str
    fingerprint: str
    severity: str
    statement: str
    reason: str


@dataclass(frozen=True, slots=True)
class Tried:
    """What runs of a program said of findings; made by ``cli.confirmation``.

    Args:
        lines: by fingerprint, a line for people.
        witnesses: by fingerprint, the operation at which runs part, as plain values.
        summary: what was tried and what no finding explains, as plain values.
        text: the same for people.
        parted: whether runs were seen to part.
    """

    lines: Mapping[str, str]
    witnesses: Mapping[str, Mapping[str, object]]
    summary: Mapping[str, object]
    text: str
    parted: bool


@dataclass(frozen=True, slots=True)
class Report:
    """The outcome of a check.

    Args:
        findings: those that are left, sorted by path, line, column and rule; all severities.
        files: how many files were asked for.
        lines: how many lines they have.
        policy: what was promised.
        rules: what is known of each rule, by name.
        suppressed: what a comment in the source took away.
        baselined: what the baseline took away.
        stale: entries of the baseline that nothing fits any more.
        fail_on: from which severity on the check fails.
        shown_from: from which severity on findings are shown.
        has_baseline: whether a baseline was in force.
        tried: what runs of a program said of the findings; None when none was run.
    """

    findings: tuple[Finding, ...]
    files: int
    lines: int
    policy: Policy
    rules: Mapping[str, RuleFacts]
    suppressed: tuple[Accepted, ...] = ()
    baselined: tuple[Accepted, ...] = ()
    stale: tuple[Entry, ...] = ()
    fail_on: Severity = Severity.HIGH
    shown_from: Severity = Severity.LOW
    has_baseline: bool = False
    tried: Tried | None = None

    @property
    def shown(self) -> tuple[Finding, ...]:
        """The findings that are severe enough to be shown."""
        return tuple(each for each in self.findings if each.severity >= self.shown_from)

    @property
    def failing(self) -> int:
        """How many findings make the check fail."""
        return sum(each.severity >= self.fail_on for each in self.findings)

    @property
    def unread(self) -> int:
        """How many files could not be read."""
        return sum(each.found.rule == UNREADABLE for each in self.findings)

    @property
    def exit_code(self) -> int:
        """0: nothing to fail on; 1: something; 2: nothing, but some files could not be read."""
        if self.failing or (self.tried is not None and self.tried.parted):
            return 1
        return 2 if self.unread else 0

    @property
    def counts(self) -> dict[str, int]:
        """How many findings of each severity there are, the worst first."""
        found = dict.fromkeys((each.word for each in reversed(Severity)), 0)
        for each in self.findings:
            found[each.severity.word] += 1
        return found

    @property
    def certainties(self) -> dict[str, int]:
        """How many of the findings that are shown are wrong, a choice, and unknown."""
        found = dict.fromkeys((each.value for each in Certainty), 0)
        for each in self.shown:
            found[each.certainty.value] += 1
        return found

    @property
    def rule_counts(self) -> dict[str, int]:
        """How many findings of each rule are shown, by name."""
        found: dict[str, int] = {}
        for each in self.shown:
            found[each.found.rule] = found.get(each.found.rule, 0) + 1
        return dict(sorted(found.items()))

    @property
    def promise(self) -> str:
        """The promise in a few words."""
        tier = f", tier {self.policy.tier}" if self.policy.tier else ""
        return f"{self.policy.kind.value}, {self.policy.scope.value}{tier}"
