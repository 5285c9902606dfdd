"""Programs that the Gymnasium tests record: each a function of a run."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.wrappers import (
    FrameStackObservation,
    NormalizeObservation,
    NormalizeReward,
    RecordEpisodeStatistics,
    StickyAction,
)

import twice
from twice.integrations import gymnasium as tg


def act(run: twice.Run) -> None:
    """Random actions of the action space, a new episode whenever one is over."""
    env = tg.wrap(run, gym.make(run.config["env"]), name="env")
    env.reset(seed=run.config.get("reset_seed"))
    for _ in run.ticks(run.config["steps"]):
        _, _, terminated, truncated, _ = env.step(env.action_space.sample())
        if terminated or truncated:
            env.reset()


def act_in_many(run: twice.Run) -> None:
    """Act in many environments side by side, each a component of its own."""
    names = run.config["envs"].split(",")
    envs = {name: tg.wrap(run, gym.make(name), name=name) for name in names}
    for tick in run.ticks(run.config["steps"]):
        for env in envs.values():
            if tick == 0:
                env.reset()
            _, _, terminated, truncated, _ = env.step(env.action_space.sample())
            if terminated or truncated:
                env.reset()


def stacked(run: twice.Run) -> None:
    """Wrappers with state of their own: statistics with times, moments, frames, stickiness."""
    env: Any = RecordEpisodeStatistics(gym.make("CartPole-v1"))
    env = FrameStackObservation(NormalizeObservation(env), 3)
    env = tg.wrap(run, StickyAction(NormalizeReward(env), 0.3), name="env")
    for tick in run.ticks(run.config["steps"]):
        if tick == 0:
            env.reset()
        _, _, terminated, truncated, _ = env.step(int(env.action_space.sample()))
        if terminated or truncated:
            env.reset()


class Naive:
    """What one would write first: positions and velocities, put back by gymnasium's own method."""

    def __init__(self, env: Any) -> None:
        self.env = env

    def state(self) -> dict[str, np.ndarray]:
        data = self.env.unwrapped.data
        return {"qpos": data.qpos, "qvel": data.qvel}

    def restore(self, state: dict[str, np.ndarray]) -> None:
        self.env.unwrapped.set_state(state["qpos"], state["qvel"])


def naive(run: twice.Run) -> None:
    env = gym.make(run.config["env"], terminate_when_unhealthy=False)
    env.reset(seed=5)
    run.track("naive", Naive(env))
    rng = run.rng("policy")
    for _ in run.ticks(run.config["steps"]):
        low, high = env.action_space.low, env.action_space.high
        env.step(rng.uniform(low, high).astype(np.float32))


def vector(run: twice.Run) -> None:
    """Act in the same way in every slot, so that only its own stream tells a slot from another."""
    kind = run.config["kind"]
    made = gym.make_vec("CartPole-v1", num_envs=run.config["slots"], vectorization_mode=kind)
    env = tg.wrap(run, made, name="cart")
    env.reset()
    for tick in run.ticks(run.config["steps"]):
        observations, rewards, *_ = env.step(np.full(env.num_envs, tick // 2 % 2))
        run.compare("first slot", (observations[0], rewards[0]))
