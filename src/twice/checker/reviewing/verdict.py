"""The overall verdict: one sentence, and how sure it is.

Invariant: code that was only read is never called deterministic.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from twice.checker.auditing.projects import Project
from twice.checker.auditing.seeds import Draw
from twice.checker.findings import Finding
from twice.checker.policy import Policy
from twice.foundation.determinism_class import DeterminismClass
from twice.foundation.printable import pluralize
from twice.foundation.severity import Severity


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict.

    Args:
        result: ``broken``, ``doubtful`` or ``nothing-found``.
        text: one sentence.
        confidence: 0 to 1.
    """

    result: str
    text: str
    confidence: float


def verdict_of(
    findings: Sequence[Finding], draws: Sequence[Draw], project: Project, policy: Policy
) -> Verdict:
    """Say in one sentence how it stands.

    Args:
        findings: the worst first.
        draws: the seed audit.
        project: what was read.
        policy: what was promised.
    """
    promise = f"{policy.kind.value} ({policy.scope.value})"
    high = [each for each in findings if each.severity >= Severity.HIGH]
    medium = [each for each in findings if each.severity is Severity.MEDIUM]
    orphans = sum(each.is_orphan and each.zone == "core" for each in draws)
    if policy.kind is DeterminismClass.STATISTICAL:
        orphans = 0  # Other numbers are the same distribution.
    if high:
        text = (
            f"Not {promise}: {pluralize(len(high), 'finding')} of high severity or above in "
            f"{_channels(high)}."
        )
        return Verdict("broken", text, max(each.found.confidence for each in high))
    if medium or orphans:
        reasons = []
        if medium:
            words = pluralize(len(medium), "finding")
            reasons.append(f"{words} of medium severity in {_channels(medium)}")
        if orphans:
            reasons.append(
                f"{pluralize(orphans, 'place')} whose random numbers no seed of the run reaches"
            )
        text = f"Doubtful whether it is {promise}: {' and '.join(reasons)}."
        return Verdict("doubtful", text, 0.7)
    seen = len(project.files) / max(1, len(project.files) + len(project.unread))
    text = f"Nothing was found that breaks {promise}. Reading alone does not prove it."
    return Verdict("nothing-found", text, round(0.6 * seen, 2))


def _channels(findings: Sequence[Finding]) -> str:
    names = list(dict.fromkeys(each.channel for each in findings))
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
