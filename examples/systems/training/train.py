"""A training loop: a tabular Q-learner on a Gymnasium environment.

twice record train.py:main --seed 7 --set steps=200 -o a.twice
twice verify a.twice --restores
"""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np

import twice
from twice.integrations import gymnasium as tg


class Learner:
    """A table of values, an exploring policy, and what it learned so far."""

    def __init__(self, states: int, actions: int, rng: np.random.Generator) -> None:
        self.rng = rng
        self.values = np.zeros((states, actions))
        self.exploring = 1.0
        self.rewards = 0.0

    def act(self, state: int) -> int:
        if self.rng.random() < self.exploring:
            return int(self.rng.integers(self.values.shape[1]))
        return int(np.argmax(self.values[state]))

    def learn(self, state: int, action: int, reward: float, after: int) -> None:
        best = float(self.values[after].max())
        self.values[state, action] += 0.1 * (reward + 0.99 * best - self.values[state, action])
        self.exploring = max(0.05, self.exploring * 0.999)
        self.rewards += reward

    def state(self) -> dict[str, Any]:
        return {"values": self.values, "exploring": self.exploring, "rewards": self.rewards}

    def restore(self, state: dict[str, Any]) -> None:
        self.values = state["values"]
        self.exploring = state["exploring"]
        self.rewards = state["rewards"]


def main(run: twice.Run) -> None:
    env = tg.wrap(run, gym.make("FrozenLake-v1"), name="lake")
    learner = run.track("learner", Learner(16, 4, run.rng("learner")))
    env.reset()
    for _ in run.ticks(run.config["steps"]):
        before = int(env.observation)
        action = learner.act(before)
        after, reward, terminated, truncated, _ = env.step(action)
        learner.learn(before, action, float(reward), int(after))
        if terminated or truncated:
            env.reset()
    run.compare("rewards", learner.rewards)
