"""A Gymnasium environment under a run: any of them, an Ant by default, with a clumsy policy.

twice record examples/ant.py:main --seed 7 --set steps=1000 -o a.twice
twice verify a.twice --restores
twice branch a.twice --at 500 --input ant/action=0.0 -o still.twice
"""

from __future__ import annotations

import gymnasium as gym
import numpy as np

import twice
from twice.integrations import gymnasium as tg


class Clumsy:
    """Repeats its last action, and changes its mind now and then; it has state of its own."""

    def __init__(self, space: gym.Space, rng: np.random.Generator) -> None:
        self.space = space
        self.rng = rng
        self.last = space.sample()

    def act(self, observation: np.ndarray) -> np.ndarray:
        if self.rng.random() < 0.2 or not np.isfinite(observation).all():
            self.last = self.space.sample()
        return self.last

    def state(self) -> dict[str, np.ndarray]:
        return {"last": self.last}

    def restore(self, state: dict[str, np.ndarray]) -> None:
        self.last = state["last"]


def main(run: twice.Run) -> None:
    env = tg.wrap(run, gym.make(run.config.get("env", "Ant-v5")), name="ant")
    policy = run.track("policy", Clumsy(env.action_space, run.rng("policy")))
    env.reset()
    for _ in run.ticks(run.config["steps"]):
        # env.observation is part of the state; a local variable would be forgotten by a restore.
        _, _, terminated, truncated, _ = env.step(policy.act(env.observation))
        if terminated or truncated:
            env.reset()
