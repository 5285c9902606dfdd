"""A swarm that drifts, is pushed by a policy, and scatters: the smallest complete program.

twice record examples/swarm.py:main --seed 42 --set n=1000 --set ticks=500 -o a.twice
twice verify a.twice
"""

from __future__ import annotations

from typing import Any

import numpy as np

import twice


class Swarm:
    """Points on a plane that are pushed and scatter a little at every step."""

    def __init__(self, n: int, rng: np.random.Generator) -> None:
        self.rng = rng
        self.position = rng.standard_normal((n, 2))
        self.energy = 1.0

    def step(self, push: float) -> None:
        self.position += push + 0.01 * self.rng.standard_normal(self.position.shape)
        self.energy = float(np.abs(self.position).mean())

    def state(self) -> dict[str, Any]:
        return {"position": self.position, "energy": self.energy}

    def restore(self, state: dict[str, Any]) -> None:
        self.position = state["position"]
        self.energy = state["energy"]


def policy(swarm: Swarm) -> float:
    """Push against the energy."""
    return -0.1 if swarm.energy > 1.0 else 0.1


def main(run: twice.Run) -> None:
    """Run the swarm: a program is a function of a run."""
    swarm = run.track("swarm", Swarm(run.config["n"], run.rng("swarm")))
    for _ in run.ticks(run.config["ticks"]):
        push = run.input("push", lambda: policy(swarm))
        run.phase("moved")
        swarm.step(push)
