"""Restoring writes into the module's defaults; agents born later come out different."""

from __future__ import annotations

DEFAULTS = {"speed": 1.0, "sight": 4.0, "hunger": 0.1}


class Herd:
    def __init__(self, rng) -> None:
        self.rng = rng
        self.traits = dict(DEFAULTS)
        self.animals = [{"id": i, "energy": 5.0, **self.traits} for i in range(5)]
        self.births = 0

    def adapt(self) -> None:
        self.traits["speed"] *= 1.02
        self.traits["hunger"] *= 0.99

    def graze(self) -> None:
        for animal in self.animals:
            animal["energy"] += self.rng.random() * animal["speed"] - animal["hunger"]

    def bear(self) -> None:
        child = {"id": 100 + self.births, "energy": 2.0, **DEFAULTS}  # ZOO: also
        self.animals = [*self.animals[-7:], child]
        self.births += 1

    def state(self) -> dict:
        return {"traits": self.traits, "animals": self.animals, "births": self.births}

    def restore(self, state: dict) -> None:
        self.traits = DEFAULTS
        self.traits.update(state["traits"])  # ZOO: guilty
        self.animals, self.births = state["animals"], state["births"]


def main(run) -> None:
    herd = run.track("herd", Herd(run.python("meadow")))
    for tick in run.ticks(24):
        herd.graze()
        if tick < 10:
            herd.adapt()
        if tick % 6 == 5:
            herd.bear()
