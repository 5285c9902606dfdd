"""A trainer whose product is shared among as many threads as the library may have."""

from __future__ import annotations

import numpy as np


class Layer:
    def __init__(self, rng: np.random.Generator) -> None:
        self.weight = rng.random(200_000) - 0.5  # So long that each thread adds up a part of it.
        self.bias = np.zeros(2)

    def forward(self, batch: np.ndarray) -> np.ndarray:
        return np.array([row @ self.weight for row in batch]) + self.bias  # ZOO: guilty


class Trainer:
    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng
        self.layer = Layer(rng)
        self.loss = 0.0

    def step(self) -> None:
        batch = self.rng.random((2, 200_000)) - 0.5
        target = batch[:, 0]
        out = self.layer.forward(batch)
        error = out - target
        self.loss = float(np.abs(error).max())
        self.layer.bias -= 0.01 * error

    def state(self) -> dict:
        return {"bias": self.layer.bias, "loss": self.loss}


def main(run) -> None:
    trainer = run.track("trainer", Trainer(run.rng("trainer")))
    for _ in run.ticks(10):
        trainer.step()
