"""A drone that is steered by an input; the policy behind it looks at the environment."""

from __future__ import annotations

import os


class Drone:
    def __init__(self, rng) -> None:
        self.rng = rng
        self.height = 10.0
        self.climb = 0.0
        self.battery = 100.0

    def fly(self, thrust: float) -> None:
        gust = self.rng.gauss(0.0, 0.1)
        self.climb = 0.8 * self.climb + thrust - 0.5 + gust
        self.height = max(0.0, self.height + self.climb)
        self.battery -= 0.3 + abs(thrust)

    def state(self) -> dict:
        return {"height": self.height, "climb": self.climb, "battery": self.battery}

    def restore(self, state: dict) -> None:
        self.height, self.climb = state["height"], state["climb"]
        self.battery = state["battery"]


def policy(drone: Drone, tick: int) -> float:
    wanted = 12.0 if tick % 2 == 0 else 11.0
    if tick >= 8:
        wanted += float(os.environ.get("ZOO_CEILING", "0"))  # ZOO: guilty
    return max(0.0, min(1.0, 0.5 + 0.1 * (wanted - drone.height)))


def main(run) -> None:
    drone = run.track("drone", Drone(run.python("gusts")))
    for tick in run.ticks(18):
        thrust = run.input("thrust", lambda: policy(drone, tick))
        run.phase("decided")
        drone.fly(thrust)
