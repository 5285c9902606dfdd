"""A bot whose restore goes through the same reset that seeds it."""

from __future__ import annotations

import numpy as np


class Bot:
    def __init__(self, seed):
        self.seed = seed
        self.reset()
        self.score = 0
        self.open = np.zeros((8, 8), dtype=bool)

    def reset(self):
        self.rng = np.random.default_rng(self.seed)  # ZOO: guilty

    def move(self):
        row, col = self.rng.integers(0, 8, 2)  # ZOO: also
        if not self.open[row, col]:
            self.open[row, col] = True
            self.score += 1

    def state(self):
        return {"open": self.open, "score": self.score}

    def restore(self, state):
        self.reset()  # ZOO: also
        self.open, self.score = state["open"], state["score"]


def main(run):
    bot = run.track("bot", Bot(11))
    for _ in run.ticks(20):
        for _ in range(3):
            bot.move()
