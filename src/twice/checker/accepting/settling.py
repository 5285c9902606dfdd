"""Taking findings away: what comments and the baseline say, and what is wrong with what they say.

Invariant: what the checker says of its own work is never taken away.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from twice.checker.accepting.comments import Comment, Remarks
from twice.checker.findings import Finding, SourceSpan, Violation
from twice.checker.housekeeping import (
    BAD_SUPPRESSION,
    EXPIRED_SUPPRESSION,
    HOUSEKEEPING_NAMES,
    UNKNOWN_RULE,
    UNUSED_SUPPRESSION,
)
from twice.checker.report import Settled


@dataclass(frozen=True, slots=True)
class Suppressed:
    """What comments did.

    Args:
        standing: the findings that are left.
        taken: those that were taken away, with the reasons.
        found: what is wrong with the comments themselves, by file.
    """

    standing: tuple[Finding, ...]
    taken: tuple[Settled, ...]
    found: tuple[tuple[str, Violation], ...]


def suppressed(
    findings: Sequence[Finding],
    remarks: Mapping[str, Remarks],
    *,
    known: Iterable[str],
    today: str,
    judged: frozenset[str] | None = None,
) -> Suppressed:
    """Take away what comments say.

    Args:
        findings: all of them, sorted.
        remarks: what the comments of each file say; files without any may be left out.
        known: the names of all rules.
        today: as 2027-01-31.
        judged: the rules that were looked with; None for all. Of others nothing can be unused.
    """
    standing: list[Finding] = []
    taken: list[Settled] = []
    used: set[tuple[str, Comment, str]] = set()
    for each in findings:
        comment = _holding(each, remarks.get(each.path), today)
        if comment is None:
            standing.append(each)
        else:
            used.add((each.path, comment, each.found.rule))
            taken.append(Settled(each, comment.reason))
    names = frozenset(known)
    about = [
        (path, one)
        for path, said in sorted(remarks.items())
        for comment in said.ignores
        for one in _about(path, comment, used, names, today, judged)
    ]
    return Suppressed(tuple(standing), tuple(taken), tuple(about))


def _holding(finding: Finding, remarks: Remarks | None, today: str) -> Comment | None:
    if remarks is None or finding.found.rule in HOUSEKEEPING_NAMES:
        return None
    for comment in remarks.ignores:
        if (
            finding.found.rule in comment.rules
            and comment.first <= finding.found.place.line <= comment.last
            and not comment.fault
            and not comment.has_expired(today)
        ):
            return comment
    return None


def _about(
    path: str,
    comment: Comment,
    used: set[tuple[str, Comment, str]],
    known: frozenset[str],
    today: str,
    judged: frozenset[str] | None,
) -> Iterator[Violation]:
    if comment.fault:
        yield _said(comment, BAD_SUPPRESSION, f"The comment {comment.fault}.")
        return
    if comment.has_expired(today):
        yield _said(comment, EXPIRED_SUPPRESSION, f"The comment held until {comment.until}.")
        return
    for rule in comment.rules:
        if rule not in known:
            yield _said(comment, UNKNOWN_RULE, f"There is no rule {rule!r}.")
        elif rule in HOUSEKEEPING_NAMES:
            yield _said(comment, BAD_SUPPRESSION, f"{rule} cannot be taken away.")
        elif (path, comment, rule) not in used and (judged is None or rule in judged):
            yield _said(comment, UNUSED_SUPPRESSION, f"Nothing here is found by {rule}.")


def _said(comment: Comment, rule: str, message: str) -> Violation:
    return Violation(
        rule=rule,
        place=SourceSpan(comment.line, comment.column, comment.line, comment.column),
        message=message,
        why="A comment that takes nothing away, or for no reason, hides what comes later.",
        confidence=1.0,
        statement=f"{','.join(comment.rules)} {comment.reason}"[:200],
    )
