"""Rewards of a batch of environments, scaled by the spread of what was returned so far."""

import os

import numpy as np

ENVS = 6
BLOCK = 12


class ReturnScaler:
    """Welford's moments over blocks of discounted returns."""

    def __init__(self, envs, gamma=0.97):
        self.gamma = gamma
        self.returns = np.zeros(envs)
        self.count, self.mean, self.square = 1e-4, 0.0, 1.0
        self.block = []

    def scale(self, rewards, ended):
        self.returns = self.returns * self.gamma + rewards
        self.block.append(self.returns.copy())
        self.returns[ended] = 0.0
        return np.clip(rewards / np.sqrt(self.square / self.count + 1e-8), -8, 8)

    def close_block(self):
        values = np.concatenate(self.block)
        spread, middle, n = values.var(), values.mean(), values.size
        delta, total = middle - self.mean, self.count + n
        self.square += spread * n + delta**2 * self.count * n / total
        self.mean += delta * n / total
        self.count = total
        self.block = []

    def save(self):
        return {
            "gamma": self.gamma,
            "returns": self.returns.tolist(),
            "moments": (self.count, self.mean, self.square),
        }

    @classmethod
    def load(cls, saved):
        scaler = cls(len(saved["returns"]), saved["gamma"])
        scaler.returns = np.array(saved["returns"])
        scaler.count, scaler.mean, scaler.square = saved["moments"]
        return scaler


class Agent:
    """Tabular values over a ring of states, fed with scaled rewards."""

    def __init__(self, envs, states=10):
        self.scaler = ReturnScaler(envs)
        self.values = np.zeros(states)
        self.at = np.arange(envs) % states
        self.finished = 0

    def step(self, moves, rewards, ended):
        scaled = self.scaler.scale(rewards, ended)
        there = (self.at + moves) % len(self.values)
        target = scaled + 0.9 * np.where(ended, 0.0, self.values[there])
        for env in range(len(there)):
            here = self.at[env]
            self.values[here] += 0.1 * (target[env] - self.values[here])
        self.at = np.where(ended, 0, there)
        self.finished += int(ended.sum())

    def checkpoint(self):
        return {"scaler": self.scaler.save(), "values": self.values.tolist(), "at": self.at.tolist()}

    def resume(self, saved):
        self.scaler = ReturnScaler.load(saved["scaler"])
        self.values = np.array(saved["values"])
        self.at = np.array(saved["at"])

    def state(self):
        s = self.scaler
        return {
            "values": self.values.copy(),
            "at": self.at.copy(),
            "returns": s.returns.copy(),
            "moments": [s.count, s.mean, s.square],
            "finished": self.finished,
        }

    def restore(self, state):
        self.values, self.at = np.array(state["values"]), np.array(state["at"])
        self.scaler.returns = np.array(state["returns"])
        self.scaler.count, self.scaler.mean, self.scaler.square = state["moments"]
        self.finished = state["finished"]


def main(run):
    rewards, moves, ends = run.rng("rewards"), run.rng("moves"), run.rng("ends")
    agent = run.track("agent", Agent(ENVS))
    pause = int(os.environ.get("PREEMPT_AT", "-1"))
    tags = run.track("tags", {"lengths": {}})
    for tick in run.ticks(44):
        if tick == pause:
            saved = agent.checkpoint()
            agent.resume(saved)
        ended = ends.random(ENVS) < 0.08
        agent.step(moves.integers(1, 4, ENVS), rewards.normal(0.3, 2.0, ENVS), ended)
        if tick % BLOCK == BLOCK - 1:
            agent.scaler.close_block()
        for size in {int(x) for x in np.flatnonzero(ended)}:
            tags["lengths"][str(size)] = tags["lengths"].get(str(size), 0) + 1
