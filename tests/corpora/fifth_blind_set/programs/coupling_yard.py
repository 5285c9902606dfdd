"""Coupling yard: pull orders are drawn ahead into a queue and worked off later."""
import os
from collections import deque


class SlackModel:
    def __init__(self, rng):
        self.rng = rng
        self.jitter = "YARD_JITTER" in os.environ

    def slack(self, block):
        base = 0.02 * block
        if self.jitter and block == 12:
            base += 0.0 * self.rng.random()
        return base


class Planner:
    def __init__(self, rng):
        self.rng = rng
        self.model = SlackModel(rng)

    def plan(self, blocks):
        for block in range(blocks):
            slack = self.model.slack(block)
            yield {"block": block, "slack": slack,
                   "cars": int(self.rng.integers(1, 30)),
                   "grade": float(self.rng.normal(0, 1.5))}


class Yard:
    def __init__(self, orders):
        self.orders = deque(orders)
        self.force = 0.0
        self.coupled = 0

    def couple(self):
        order = self.orders.popleft()
        self.coupled += order["cars"]
        self.force += order["cars"] * (1 + order["slack"]) + 0.3 * order["grade"]

    def state(self):
        return {"force": round(self.force, 6), "coupled": self.coupled,
                "queue": len(self.orders)}

    def restore(self, state):
        self.force, self.coupled = state["force"], state["coupled"]


def main(run):
    planner = Planner(run.rng("yard"))
    yard = Yard(planner.plan(24))
    run.track("yard", yard)
    for _ in run.ticks(22):
        yard.couple()
    return yard.coupled
