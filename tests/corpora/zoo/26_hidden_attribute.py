"""Villagers remember an insult at tick 3 and answer at tick 15; the memory is in no state()."""

from __future__ import annotations

import time


class Villager:
    def __init__(self, name: str, rng) -> None:
        self.name = name
        self.rng = rng
        self.mood = 5.0
        self._grudge = 0

    def insult(self) -> None:
        self._grudge = int(time.time()) % 7  # ZOO: guilty

    def live(self) -> None:
        self.mood += self.rng.uniform(-0.2, 0.25)

    def answer(self) -> None:
        self.mood -= 0.5 * self._grudge
        self._grudge = 0


class Village:
    def __init__(self, rng) -> None:
        self.villagers = [Villager(name, rng) for name in ("Ada", "Ben", "Cem", "Dita")]
        self.feuds = 0

    def step(self, tick: int) -> None:
        for villager in self.villagers:
            villager.live()
        if tick == 3:
            self.villagers[1].insult()
        if tick == 15:
            self.villagers[1].answer()
        self.feuds = sum(villager.mood < 3.0 for villager in self.villagers)

    def state(self) -> dict:
        return {"mood": {v.name: v.mood for v in self.villagers}, "feuds": self.feuds}


def main(run) -> None:
    village = run.track("village", Village(run.python("fate")))
    for tick in run.ticks(20):
        village.step(tick)
