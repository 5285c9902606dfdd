"""A clock that is a deterministic function of the run, as a policy of its setup says it.

Invariant: a policy reads back what it prints.
"""

from __future__ import annotations

from twice.errors import ClassRefused
from twice.foundation.dataclass import dataclass


@dataclass(frozen=True)
class TickClock:
    """A clock that is a function of the run: seconds = origin + step x tick."""

    origin: float
    step: float

    def seconds(self, tick: int) -> float:
        """Return the time at a tick; construction, tick -1, reads the origin."""
        return self.origin + self.step * max(tick, 0)

    def __str__(self) -> str:
        return f"ticks:{self.origin!r},{self.step!r}"


def parse_clock(text: str) -> TickClock | None:
    """Read a clock policy: ``record`` (the default) or ``ticks:ORIGIN,STEP`` in seconds.

    Raises:
        ClassRefused: E-CLASS-001, when it is neither.
    """
    if text == "record":
        return None
    kind, _, numbers = text.partition(":")
    try:
        origin, step = (float(part) for part in numbers.split(","))
    except ValueError:
        kind = ""
    if kind != "ticks":
        raise ClassRefused(
            f"{text!r} is not a clock policy.",
            "Expected record, or ticks:ORIGIN,STEP with two numbers of seconds.",
            "For example: --clock ticks:0,0.01",
        )
    return TickClock(origin, step)
