"""A product that a library may share among threads, beside a list of a set that stays alive."""

from __future__ import annotations

import numpy as np


class Layer:
    def __init__(self, rng) -> None:
        self.rng, self.bias = rng, np.zeros(128)
        self.tags = list({"cold", "warm", "hot", "mild"})
        self.weight = rng.random((1000, 128)) - 0.5

    def step(self) -> None:
        batch = self.rng.random((128, 1000)) - 0.5
        out = batch @ self.weight  # guilty
        self.bias = self.bias - 0.01 * out[0]

    def state(self) -> dict:
        return {"bias": self.bias}


def main(run) -> None:
    layer = run.track("layer", Layer(run.rng("layer")))
    for _ in run.ticks(4):
        layer.step()
