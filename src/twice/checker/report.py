"""What a check came to, as every format is given it.

Invariant: it is complete before anything is written; the exit code is a function of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from twice.checker.findings import Finding
from twice.checker.housekeeping import UNREADABLE
from twice.checker.policy import Policy
from twice.foundation.severity import Severity

if TYPE_CHECKING:
    from twice.checker.rule import RuleFacts


@dataclass(frozen=True, slots=True)
class Settled:
    """A finding that was taken away, with the reason that somebody gave."""

    finding: Finding
    reason: str


@dataclass(frozen=True, slots=True)
class Stale:
    """An entry of the baseline that nothing in the program fits any more."""

    path: str
    rule: str
    fingerprint: str


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
    """What a check came to.

    Args:
        findings: what stands, sorted by path, line, column and rule; all severities.
        suppressed: what a comment in the source took away.
        baselined: what the baseline took away.
        stale: entries of the baseline that nothing fits.
        files: how many files were asked for.
        lines: how many lines they have.
        policy: what was promised.
        fail_on: from which severity on the check fails.
        shown_from: from which severity on findings are shown.
        rules: what is known of each rule, by name.
        has_baseline: whether a baseline was in force.
        tried: what runs of a program said of the findings; None when none was run.
    """

    findings: tuple[Finding, ...]
    files: int
    lines: int
    policy: Policy
    rules: Mapping[str, RuleFacts]
    suppressed: tuple[Settled, ...] = ()
    baselined: tuple[Settled, ...] = ()
    stale: tuple[Stale, ...] = field(default=())
    fail_on: Severity = Severity.HIGH
    shown_from: Severity = Severity.LOW
    has_baseline: bool = False
    tried: Tried | None = None

    @property
    def shown(self) -> tuple[Finding, ...]:
        """What is severe enough to be shown."""
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
        """How many findings of each severity stand, the worst first."""
        found = dict.fromkeys((each.word for each in reversed(Severity)), 0)
        for each in self.findings:
            found[each.severity.word] += 1
        return found

    @property
    def promise(self) -> str:
        """What was promised, in a few words."""
        tier = f", tier {self.policy.tier}" if self.policy.tier else ""
        return f"{self.policy.kind.value}, {self.policy.scope.value}{tier}"
