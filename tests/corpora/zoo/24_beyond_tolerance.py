"""A tank that is filled through a valve; one pulse is far beyond the tolerance of its level."""

from __future__ import annotations

import os

from twice import Abs


class Tank:
    def __init__(self, rng) -> None:
        self.rng = rng
        self.level = 2.0
        self.valve = 0.5
        self.spilled = 0.0

    def control(self) -> None:
        self.valve = min(1.0, max(0.0, self.valve + 0.2 * (3.0 - self.level)))

    def pulse(self) -> None:
        self.level += float(os.environ.get("ZOO_PULSE", "0"))  # ZOO: guilty

    def flow(self) -> None:
        self.level += 0.3 * self.valve - 0.1 * self.level + 0.01 * self.rng.random()
        if self.level > 4.0:
            self.spilled += self.level - 4.0
            self.level = 4.0

    def state(self) -> dict:
        return {"level": self.level, "valve": self.valve, "spilled": self.spilled}

    def restore(self, state: dict) -> None:
        self.level, self.valve, self.spilled = state["level"], state["valve"], state["spilled"]


def main(run) -> None:
    tank = Tank(run.python("pump"))
    run.track("tank", tank, equivalence=Abs(1e-9))
    for tick in run.ticks(20):
        tank.control()
        tank.flow()
        if tick == 11:
            tank.pulse()
