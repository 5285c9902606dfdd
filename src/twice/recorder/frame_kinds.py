"""Kinds of frames that a session writes besides its reads: inputs, what was printed, loops, and what the frame of a loop says.

Whoever reads a record needs these words, and nothing of a session.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from twice.foundation.dataclass import dataclass

INPUT: Final = "input"
OUTPUT: Final = "output"
ERRORS: Final = "errors"
LOOP: Final = "loop"
LEFT: Final = "left"
ROLLBACK: Final = "rollback"
SUMMARY: Final = "summary"


@dataclass(frozen=True)
class LoopSpan:
    """A loop of the recorded run: where it ended, and the cursors there."""

    next_tick: int
    effects: Mapping[str, object]
    inputs: int
