"""A list made from a set stays alive beside a product whose threads differ: the product did it."""

from __future__ import annotations

import numpy as np


class Trainer:
    def __init__(self, rng: np.random.Generator, names: set[str]) -> None:
        self.rng = rng
        self.names = names
        self.order = list(names)  # ZOO: innocent
        self.weight = rng.random(200_000) - 0.5  # So long that each thread adds up a part.
        self.norm = 0.0
        self.seen = 0

    def bookkeeping(self) -> None:
        order = list(self.names)  # ZOO: innocent
        self.order = order[::-1]
        self.seen += len(self.order)

    def step(self, tick: int) -> None:
        self.bookkeeping()
        batch = self.rng.random(200_000) - 0.5
        if tick >= 3:
            out = batch @ self.weight  # ZOO: guilty
            self.norm = float(abs(out))

    def state(self) -> dict:
        return {"norm": self.norm, "seen": self.seen}


def main(run) -> None:
    names = {f"metric/{number}" for number in range(9)}
    trainer = run.track("trainer", Trainer(run.rng("trainer"), names))
    for tick in run.ticks(8):
        trainer.step(tick)
