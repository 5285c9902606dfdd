"""A taxi dispatcher that charges more when the wall clock says so."""

from __future__ import annotations

import time


class Dispatcher:
    def __init__(self, rng) -> None:
        self.rng = rng
        self.waiting = 0
        self.revenue = 0.0
        self.surges = 0

    def fare(self, distance: float) -> float:
        price = 3.0 + 1.5 * distance
        if int(time.time() * 10.0) % 50 >= 35:  # ZOO: guilty
            price *= 1.8
            self.surges += 1
        return price

    def step(self) -> None:
        self.waiting += self.rng.randrange(0, 4)
        served = min(self.waiting, 2)
        for _ in range(served):
            self.revenue += self.fare(self.rng.uniform(1.0, 9.0))
        self.waiting -= served

    def state(self) -> dict:
        return {"waiting": self.waiting, "revenue": self.revenue, "surges": self.surges}

    def restore(self, state: dict) -> None:
        self.waiting, self.revenue, self.surges = (
            state["waiting"],
            state["revenue"],
            state["surges"],
        )


def main(run) -> None:
    dispatcher = run.track("dispatcher", Dispatcher(run.python("customers")))
    for _ in run.ticks(30):
        dispatcher.step()
