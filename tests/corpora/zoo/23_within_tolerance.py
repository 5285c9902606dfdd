"""A pendulum integrated with a drag that differs in the tenth digit: inside its tolerance."""

from __future__ import annotations

import math
import os

from twice import Abs


class Pendulum:
    def __init__(self, rng) -> None:
        self.rng = rng
        self.angle = 0.4
        self.speed = 0.0

    def drag(self, tick: int) -> float:
        base = 0.02 * self.speed
        if tick == 8:
            return base + float(os.environ.get("ZOO_DUST", "0"))  # ZOO: guilty
        return base

    def step(self, tick: int) -> None:
        push = 0.001 * self.rng.random()
        self.speed += 0.05 * (-math.sin(self.angle) + push) - 0.05 * self.drag(tick)
        self.angle += 0.05 * self.speed

    def state(self) -> dict:
        return {"angle": self.angle, "speed": self.speed}

    def restore(self, state: dict) -> None:
        self.angle, self.speed = state["angle"], state["speed"]


def main(run) -> None:
    pendulum = Pendulum(run.python("wind"))
    run.track("pendulum", pendulum, equivalence=Abs(1e-9))
    for tick in run.ticks(30):
        pendulum.step(tick)
