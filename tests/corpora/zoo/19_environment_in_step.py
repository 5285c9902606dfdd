"""A thermostat takes its target from the environment in the middle of the run."""

from __future__ import annotations

import os


class House:
    def __init__(self, rng) -> None:
        self.rng = rng
        self.rooms = {"kitchen": 17.0, "bath": 18.0, "attic": 12.0}
        self.heating = False
        self.burned = 0.0

    def target(self, tick: int) -> float:
        if tick < 6:
            return 20.0
        return float(os.environ.get("ZOO_TARGET", "20"))  # ZOO: guilty

    def step(self, tick: int) -> None:
        outside = 5.0 + self.rng.random()
        mean = sum(self.rooms.values()) / len(self.rooms)
        self.heating = mean < self.target(tick)
        for name, warmth in self.rooms.items():
            self.rooms[name] = warmth + 0.1 * (outside - warmth) + (2.0 if self.heating else 0.0)
        self.burned += 0.4 if self.heating else 0.0

    def state(self) -> dict:
        return {"rooms": self.rooms, "heating": self.heating, "burned": self.burned}

    def restore(self, state: dict) -> None:
        self.rooms, self.heating, self.burned = state["rooms"], state["heating"], state["burned"]


def main(run) -> None:
    house = run.track("house", House(run.python("weather")))
    for tick in run.ticks(25):
        house.step(tick)
