"""An evolution strategy whose mutation has a generator of its own, made without a seed."""

from __future__ import annotations

import numpy as np


class Mutation:
    def __init__(self, strength: float) -> None:
        self.strength = strength
        self.noise = np.random.default_rng()  # ZOO: guilty

    def __call__(self, genes: np.ndarray) -> np.ndarray:
        return genes + self.strength * self.noise.standard_normal(genes.shape)


class Population:
    def __init__(self, rng: np.random.Generator, mutate: Mutation) -> None:
        self.rng = rng
        self.mutate = mutate
        self.genes = rng.standard_normal((12, 4))
        self.best = float("inf")

    def cost(self, genes: np.ndarray) -> np.ndarray:
        return (genes**2).sum(axis=1)

    def generation(self, tick: int) -> None:
        parents = self.genes[np.argsort(self.cost(self.genes), kind="stable")[:6]]
        picks = self.rng.integers(0, len(parents), len(self.genes))
        children = parents[picks]
        self.genes = self.mutate(children) if tick >= 3 else children
        self.best = min(self.best, float(self.cost(self.genes).min()))

    def state(self) -> dict:
        return {"genes": self.genes, "best": self.best}


def main(run) -> None:
    population = run.track("population", Population(run.rng("evolution"), Mutation(0.1)))
    for tick in run.ticks(12):
        population.generation(tick)
