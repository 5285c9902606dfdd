"""The rules that are no part of the catalogue of rules: on the checker's own work, and on names that a project bans.

Invariant: a finding on the checker's own work can be neither suppressed nor put into a baseline.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from twice.checker.findings import FileResult, SourceSpan, Violation
from twice.checker.rule import Breaks, Rule, RuleFacts
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity

if TYPE_CHECKING:  # Findings from the cache need neither.
    from twice.checker.config import Ban
    from twice.checker.syntax.module import Site


UNREADABLE: Final = "unreadable-file"
BAD_SUPPRESSION: Final = "bad-suppression"
UNKNOWN_RULE: Final = "unknown-rule"
EXPIRED_SUPPRESSION: Final = "expired-suppression"
UNUSED_SUPPRESSION: Final = "unused-suppression"

HOUSEKEEPING: Final = tuple(
    Rule(RuleFacts(name, Channel.DIVERGENCE, Breaks.STATISTICAL, severity, remedy, title))
    for name, severity, title, remedy in (
        (BAD_SUPPRESSION, Severity.MEDIUM, "A comment for the checker could not be used.",
         "Write it as: # twice: ignore[rule] reason, or # twice: boundary reason."),
        (EXPIRED_SUPPRESSION, Severity.MEDIUM, "A suppression's last day is over.",
         "Mend what it hid, or give it a new date and say why it may stay."),
        (UNKNOWN_RULE, Severity.MEDIUM, "A suppression names a rule that there is not.",
         "Correct the name; twice check --list prints those that there are."),
        (UNREADABLE, Severity.MEDIUM, "A file could not be read as Python, so nothing is known of it.",
         "Mend it, run twice with the Python that it is written for, or exclude it by name."),
        (UNUSED_SUPPRESSION, Severity.LOW, "A suppression takes nothing away.",
         "Delete the comment, or the rule's name in it."),
    )
)  # fmt: skip
HOUSEKEEPING_NAMES: Final = frozenset(each.name for each in HOUSEKEEPING)

BANNED_NAME: Final = Rule(
    RuleFacts(
        "banned-name",
        Channel.EFFECTS,
        Breaks.STATISTICAL,
        Severity.HIGH,
        "Use what the configuration names instead, or change it there.",
        "A name is used that the project's configuration bans.",
    )
)
"""Not one of them: it speaks of the program, so it can be suppressed like any rule."""


_NOT_CHECKED: Final = "The file was not checked: "


def unreadable(reason: str, line: int = 1, lines: int = 0) -> FileResult:
    """Give the result of a file that could not be read."""
    found = Violation(
        rule=UNREADABLE,
        place=SourceSpan(line, 1, line, 1),
        message=f"{_NOT_CHECKED}{reason}.",
        why="What is in it is not known to be deterministic.",
        confidence=1.0,
    )
    return FileResult((found,), lines=lines)


def unread_reason(found: Violation) -> str:
    """Give why a file could not be read, without the sentence around it."""
    return found.message.removeprefix(_NOT_CHECKED).removesuffix(".")


def ban_rule(bans: Sequence[Ban], group: str) -> Rule:
    """Make the rule for names that a project bans: calls, and attributes that are passed on without a call.

    Args:
        bans: the names, with the project's reasons and severities.
        group: of the catalogue, with the same names.
    """
    by_name = {each.name: each for each in bans}

    def look(site: Site) -> Iterator[Violation]:
        node = site.node
        if isinstance(node, ast.Call):
            name, shown = site.called, "is called"
        else:
            around = site.module.survey.parents.get(node)
            if isinstance(around, ast.Call) and around.func is node:
                return  # The call says it.
            name, shown = site.qualified(node), "is used"
        if name is None or (ban := by_name.get(name)) is None:
            return
        instead = f"; use {ban.instead}" if ban.instead else ""
        found = site.violation(
            f"{name} {shown}, and it is banned here.",
            f"The project says: {ban.reason.rstrip('.')}{instead}.",
            confidence=1.0,
        )
        yield replace(found, severity=ban.severity)

    return Rule(BANNED_NAME.facts, calls=(group,), nodes=(ast.Attribute,), look=look)
