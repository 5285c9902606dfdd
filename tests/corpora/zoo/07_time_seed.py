"""A delivery fleet whose traffic is seeded from the clock when the first jam comes up."""

from __future__ import annotations

import random
import time


class Traffic:
    def __init__(self) -> None:
        self.jams: random.Random | None = None

    def delay(self, road: int) -> float:
        if self.jams is None:
            self.jams = random.Random(int(time.time()))  # ZOO: guilty
        return self.jams.expovariate(1.0 + road)


class Fleet:
    def __init__(self, rng, traffic: Traffic) -> None:
        self.rng = rng
        self.traffic = traffic
        self.position = [0.0] * 6
        self.late = 0

    def drive(self, tick: int) -> None:
        for van in range(len(self.position)):
            speed = 1.0 + self.rng.random()
            if tick >= 5 and van % 2 == 0:
                speed = max(0.1, speed - self.traffic.delay(van))
            self.position[van] += speed
        self.late = sum(position < 1.2 * tick for position in self.position)

    def state(self) -> dict:
        return {"position": self.position, "late": self.late}


def main(run) -> None:
    fleet = run.track("fleet", Fleet(run.python("drivers"), Traffic()))
    for tick in run.ticks(14):
        fleet.drive(tick)
