"""What the checker says of its own work: files it could not read, suppressions that are no good.

Invariant: none of these can be suppressed or put into a baseline.
"""

from __future__ import annotations

from typing import Final

from twice.checker.rule import Breaks, Rule, RuleFacts
from twice.foundation.channels import Channel
from twice.foundation.severity import Severity


def _own(
    name: str,
    severity: Severity,
    title: str,
    remedy: str,
    channel: Channel = Channel.DIVERGENCE,
) -> Rule:
    return Rule(RuleFacts(name, channel, Breaks.STATISTICAL, severity, remedy, title))


UNREADABLE: Final = "unreadable-file"
BAD_SUPPRESSION: Final = "bad-suppression"
UNKNOWN_RULE: Final = "unknown-rule"
EXPIRED_SUPPRESSION: Final = "expired-suppression"
UNUSED_SUPPRESSION: Final = "unused-suppression"

HOUSEKEEPING: Final = (
    _own(
        BAD_SUPPRESSION,
        Severity.MEDIUM,
        "A comment for the checker could not be used.",
        "Write it as: # twice: ignore[rule] reason, or # twice: boundary reason.",
    ),
    _own(
        EXPIRED_SUPPRESSION,
        Severity.MEDIUM,
        "A suppression's last day is over.",
        "Mend what it hid, or give it a new date and say why it may stay.",
    ),
    _own(
        UNKNOWN_RULE,
        Severity.MEDIUM,
        "A suppression names a rule that there is not.",
        "Correct the name; twice check --list prints those that there are.",
    ),
    _own(
        UNREADABLE,
        Severity.MEDIUM,
        "A file could not be read as Python, so nothing is known of it.",
        "Mend it, run twice with the Python that it is written for, or exclude it by name.",
    ),
    _own(
        UNUSED_SUPPRESSION,
        Severity.LOW,
        "A suppression takes nothing away.",
        "Delete the comment, or the rule's name in it.",
    ),
)

BANNED_NAME: Final = _own(
    "banned-name",
    Severity.HIGH,
    "A name is used that the project's configuration bans.",
    "Use what the configuration names instead, or change it there.",
    Channel.EFFECTS,
)
"""Not one of them: it speaks of the program, so it can be suppressed like any rule."""

HOUSEKEEPING_NAMES: Final = frozenset(each.name for each in HOUSEKEEPING)
