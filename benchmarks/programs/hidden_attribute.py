"""What is remembered at tick 3 and stands in no ``state()`` is answered at tick 15."""

from __future__ import annotations

import os


class Villager:
    def __init__(self, rng) -> None:
        self.rng, self.mood, self.grudge = rng, 5.0, 0

    def insult(self) -> None:
        self.grudge = int(os.environ.get("GRUDGE", "1"))  # guilty

    def step(self, tick: int) -> None:
        self.mood += self.rng.uniform(-0.2, 0.25)
        if tick == 3:
            self.insult()
        if tick == 15:
            self.mood -= 0.5 * self.grudge


class Village:
    def __init__(self, rng) -> None:
        self.villagers = [Villager(rng) for _ in range(4)]

    def state(self) -> dict:
        return {"mood": [each.mood for each in self.villagers]}


def main(run) -> None:
    village = run.track("village", Village(run.rng("village")))
    for tick in run.ticks(20):
        for villager in village.villagers:
            villager.step(tick)
