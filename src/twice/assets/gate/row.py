"""One line of a verdict: an asset, a check, what it came to, why, and what to do.

Invariant: what is not green says what to do, and whose it is.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Final


class Status(StrEnum):
    """What a check came to."""

    GREEN = "green"
    YELLOW = "yellow"
    RED = "red"


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a verdict.

    Args:
        asset: path of the asset from the folder that was judged; or the name of a set.
        check: stable id of the rule; with ``:`` and a JSON pointer where it is about one field.
        status: what it came to.
        evidence: what was seen, at most 400 characters.
        fix: the smallest thing that mends it; "" when green.
        owner: the role that mends it; "" when green.
    """

    asset: str
    check: str
    status: Status
    evidence: str
    fix: str = ""
    owner: str = ""

    def to_json(self) -> dict[str, str]:
        """Give it as ``twice asset gate --json`` prints it."""
        return asdict(self) | {"status": self.status.value}


TEXT_MAX: Final = 400
"""The longest evidence and fix, as QuestFoundry's gate report limits them."""


def clipped(text: str) -> str:
    """Shorten a text to what a row may hold."""
    return text if len(text) <= TEXT_MAX else f"{text[: TEXT_MAX - 1]}…"
