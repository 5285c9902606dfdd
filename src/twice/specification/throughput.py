"""The figure that sheet 06 promises of replay, and whether measured replays keep it.

Invariant: a promise that lies within the spread of the rounds is neither kept nor broken.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal

from twice.specification.cost.result import Spread

FORMS: Final = '"1.5 times as long as the recording", "2 times as fast" or "1000 ticks/s"'
_FIGURE: Final = re.compile(
    r"(?P<number>\d[\d,]*(?:\.\d+)?)\s*"
    r"(?:(?:times|x)\s+as\s+(?P<than>long|fast)|(?P<rate>ticks?\s*(?:/\s*s|(?:per|a|in a)\s+second))\b)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class ReplayPromise:
    """How long a replay may take, as a ``ratio`` to its recording, or how many ``ticks_per_s`` it has to make."""

    unit: Literal["ratio", "ticks_per_s"]
    value: float

    def __str__(self) -> str:
        if self.unit == "ratio":
            return f"at most {self.value:g} times as long as the recording"
        return f"at least {self.value:,g} ticks/s"

    def judge(self, measured: Spread) -> Literal["kept", "broken", "within the spread"]:
        """Compare it with replays; every round has to lie on one side."""
        worst, best = measured.highest - self.value, measured.lowest - self.value
        if self.unit == "ticks_per_s":
            worst, best = -best, -worst
        return "kept" if worst <= 0 else "broken" if best > 0 else "within the spread"

    def describe(self, measured: Spread) -> str:
        """Say what was measured, in its unit."""
        low, middle, high = (
            f"{each:.2f}" if self.unit == "ratio" else f"{each:,.0f}"
            for each in (measured.lowest, measured.median, measured.highest)
        )
        unit = "times as long" if self.unit == "ratio" else "ticks/s"
        return f"{middle} {unit} ({low} to {high})"


def read_promise(text: str) -> ReplayPromise | None:
    """Read the first figure of a text; None where it has none."""
    found = _FIGURE.search(text)
    if found is None or not (number := float(found["number"].replace(",", ""))):
        return None
    if found["rate"]:
        return ReplayPromise("ticks_per_s", number)
    return ReplayPromise("ratio", 1 / number if found["than"].lower() == "fast" else number)
