"""Sub-seeds by position: an optional augmentation spawns first, and moves every later child."""

from __future__ import annotations

import os

import numpy as np

ROOT = 20260401


class Generators:
    def __init__(self) -> None:
        self.parent = np.random.SeedSequence(ROOT)
        self.by_name: dict[str, np.random.Generator] = {}

    def augmentation(self) -> None:
        if os.environ.get("ZOO_AUGMENT") == "1":
            self.parent.spawn(1)  # ZOO: guilty

    def give(self, name: str) -> np.random.Generator:
        child = self.parent.spawn(1)[0]
        self.by_name[name] = np.random.default_rng(child)
        return self.by_name[name]


class Training:
    def __init__(self) -> None:
        generators = Generators()
        self.data = generators.give("data")
        generators.augmentation()
        self.policy = generators.give("policy")
        self.buffer = generators.give("buffer")
        self.weights = np.zeros(8)
        self.replay: list[float] = []

    def step(self) -> None:
        batch = self.data.standard_normal((4, 8))
        action = float(self.policy.uniform(-1.0, 1.0))
        self.replay = [*self.replay, action][-20:]
        sample = self.replay[int(self.buffer.integers(0, len(self.replay)))]
        self.weights = 0.9 * self.weights + 0.1 * sample * batch[0]

    def state(self) -> dict:
        return {"weights": self.weights, "replay": self.replay}


def main(run) -> None:
    training = run.track("training", Training())
    for _ in run.ticks(15):
        training.step()
