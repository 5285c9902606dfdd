"""Where the order of steps in a simulated loop comes from, as plain data.

Invariant: ``Order.from_json(order.to_json()) == order``, and importing this does not import ``asyncio``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any, Final

from twice.errors import ScheduleRefused
from twice.foundation.dataclass import dataclass

STRATEGIES: Final = ("fifo", "random", "pct", "delay-bounded", "portfolio")


@dataclass(frozen=True)
class Order:
    """A strategy with the number of its schedule, and orders between steps that it keeps to.

    Attributes:
        strategy: ``fifo``, ``random``, ``pct`` or ``portfolio``.
        number: which schedule of the strategy, from 0.
        steps: how many steps the program has, about; ``pct`` asks.
        after: of a step's key, the key of the step that must run before.
        faults: keys of those that happen, as ``faults`` writes them.
    """

    strategy: str = "random"
    number: int = 0
    steps: int = 1000
    after: Mapping[str, str] = field(default_factory=dict)
    faults: tuple[str, ...] = ()

    def to_json(self) -> dict[str, object]:
        """Return plain values, as in a record's policies."""
        return {
            "strategy": self.strategy,
            "number": self.number,
            "steps": self.steps,
            "after": dict(self.after),
            **({"faults": list(self.faults)} if self.faults else {}),
        }

    @classmethod
    def from_json(cls, data: Any) -> Order:
        """Build it from the JSON of ``to_json``; E-SCHEDULE-004 for anything else."""
        try:
            order = cls(
                str(data["strategy"]), int(data["number"]), int(data["steps"]), dict(data["after"]),
                tuple(data.get("faults", ())),
            )  # fmt: skip
            names = [*order.after, *order.after.values(), *order.faults]
            fits = order.strategy in STRATEGIES and all(isinstance(each, str) for each in names)
        except (KeyError, TypeError, ValueError):
            fits = False
        if not fits:
            raise ScheduleRefused(
                f"{data!r} is not the order of a simulated loop.",
                f"Expected a strategy ({', '.join(STRATEGIES)}), two numbers, pairs of steps, and names of faults.",
                "Record the program again.",
            )
        return order
