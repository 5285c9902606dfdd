"""A tournament ranks players by points; equal points come in the order that the kernel leaves."""

from __future__ import annotations

import numpy as np


class Tournament:
    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng
        self.points = np.zeros(400, dtype=np.float64)
        self.ranking = np.arange(400)

    def play(self) -> None:
        pairs = self.rng.permutation(400).reshape(-1, 2)
        wins = self.rng.integers(0, 2, len(pairs))
        self.points[pairs[np.arange(len(pairs)), wins]] += 1.0

    def rank(self) -> None:
        self.ranking = np.argsort(-self.points)  # ZOO: guilty

    def state(self) -> dict:
        return {"points": self.points, "ranking": self.ranking}

    def restore(self, state: dict) -> None:
        self.points, self.ranking = state["points"], state["ranking"]


def main(run) -> None:
    tournament = run.track("tournament", Tournament(run.rng("games")))
    for tick in run.ticks(12):
        tournament.play()
        if tick >= 3:
            tournament.rank()
