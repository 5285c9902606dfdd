"""How grave a finding is, in the words that reports and exit codes share.

What a grade means is the finder's: of the checker it says how badly a class is broken, of a scan for
leaks how much is given away. High and critical fail by default.

Invariant: grades are ordered, the worst last.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Final


class Severity(IntEnum):
    """How grave a finding is."""

    INFORMATIONAL = 0
    LOW = 1
    MEDIUM = 2
    HIGH = 3
    CRITICAL = 4

    @property
    def word(self) -> str:
        """The name in outputs."""
        return self.name.lower()


SEVERITIES: Final = {each.word: each for each in Severity}
"""Each grade by its word."""
