"""An advantage estimate whose baseline is set up at first use and is in no state()."""

from __future__ import annotations

import numpy as np


class Estimator:
    def __init__(self) -> None:
        self._baseline: float | None = None

    def advantage(self, rewards: np.ndarray) -> float:
        if self._baseline is None:
            self._baseline = float(rewards.mean())  # ZOO: also
        return float(rewards.mean()) - self._baseline  # ZOO: also


class Agent:
    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng
        self.estimator = Estimator()
        self.skill = 0.0
        self.updates = 0

    def play(self) -> np.ndarray:
        return self.skill + self.rng.standard_normal(16)

    def learn(self, rewards: np.ndarray) -> None:
        self.skill += 0.1 + 0.05 * self.estimator.advantage(rewards)  # ZOO: guilty
        self.updates += 1

    def state(self) -> dict:
        return {"skill": self.skill, "updates": self.updates}

    def restore(self, state: dict) -> None:
        self.skill, self.updates = state["skill"], state["updates"]


def main(run) -> None:
    agent = run.track("agent", Agent(run.rng("agent")))
    for _ in run.ticks(20):
        agent.learn(agent.play())
