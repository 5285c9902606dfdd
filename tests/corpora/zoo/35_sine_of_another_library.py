"""Planets on circles: the C library has more than one sine, and the processor chooses."""

from __future__ import annotations

import math


class System:
    def __init__(self, rng) -> None:
        self.rng = rng
        self.angle = [rng.uniform(0.0, 6.0) for _ in range(40)]
        self.x = [0.0] * 40
        self.energy = 0.0

    def turn(self) -> None:
        for planet in range(40):
            self.angle[planet] += 0.01 * (planet + 1)

    def place(self) -> None:
        self.x = [math.exp(math.sin(angle)) for angle in self.angle]  # ZOO: guilty
        self.energy = max(self.x)

    def state(self) -> dict:
        return {"angle": self.angle, "x": self.x, "energy": self.energy}

    def restore(self, state: dict) -> None:
        self.angle, self.x, self.energy = state["angle"], state["x"], state["energy"]


def main(run) -> None:
    system = run.track("system", System(run.python("birth")))
    for tick in run.ticks(12):
        system.turn()
        if tick >= 4:
            system.place()
