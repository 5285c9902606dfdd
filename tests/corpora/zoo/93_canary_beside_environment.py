"""A walk over a set stays alive in an attribute; what differs is a variable of the environment."""

from __future__ import annotations

import os


class Farm:
    def __init__(self, rng) -> None:
        self.rng = rng
        self.fields = {"north": 1.0, "south": 1.5, "east": 0.5, "west": 2.0, "hill": 0.8}
        self.names = set(self.fields)
        self.walk: list[str] = []
        self.harvest = 0.0

    def inspect(self) -> None:
        self.walk = [name for name in self.names]  # ZOO: innocent

    def grow(self) -> None:
        for name in self.fields:
            self.fields[name] += 0.1 * self.rng.random()

    def rain(self) -> None:
        water = float(os.environ.get("ZOO_RAIN", "1"))  # ZOO: guilty
        for name in self.walk:
            self.fields[name] *= water

    def reap(self) -> None:
        self.harvest = max(self.fields.values()) + len(self.walk)

    def state(self) -> dict:
        return {"fields": self.fields, "harvest": self.harvest}


def main(run) -> None:
    farm = run.track("farm", Farm(run.python("soil")))
    for tick in run.ticks(14):
        farm.inspect()
        farm.grow()
        if tick == 8:
            farm.rain()
        farm.reap()
