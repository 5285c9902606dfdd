"""Simulated annealing of a tour; a helper makes the seed of a restart from the clock."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field

import numpy as np

CITIES = [(math.cos(i * 2.4) * i, math.sin(i * 2.4) * i) for i in range(12)]


def length(tour):
    return sum(math.dist(CITIES[a], CITIES[b]) for a, b in zip(tour, tour[1:] + tour[:1]))


def fresh_seed(salt):
    now = time.time()  # ZOO: guilty
    return int(now * 1000) % 65521 + salt  # ZOO: also


@dataclass
class Annealer:
    rng: np.random.Generator
    tour: list = field(default_factory=lambda: list(range(12)))
    heat: float = 4.0
    restarts: int = 0

    def restart(self):
        self.restarts += 1
        self.heat = 4.0
        self.rng = np.random.default_rng(fresh_seed(self.restarts))

    def step(self):
        i, j = sorted(self.rng.integers(0, 12, 2).tolist())
        other = self.tour[:i] + self.tour[i:j][::-1] + self.tour[j:]
        gain = length(self.tour) - length(other)
        if gain > 0 or self.rng.random() < math.exp(gain / self.heat):
            self.tour = other
        self.heat *= 0.9

    def state(self):
        return {"tour": self.tour, "heat": self.heat}


def main(run):
    annealer = run.track("annealer", Annealer(np.random.default_rng(7)))
    for tick in run.ticks(16):
        for _ in range(4):
            annealer.step()
        if tick == 7:
            annealer.restart()
