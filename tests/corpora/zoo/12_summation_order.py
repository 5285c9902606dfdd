"""A power grid adds up the load of the stations that are on, in the order of a set."""

from __future__ import annotations


class Grid:
    def __init__(self, rng) -> None:
        self.rng = rng
        self.load = {f"station/{i}": 0.1 * 1.7**i for i in range(24)}
        self.on = frozenset(self.load)
        self.total = 0.0
        self.frequency = 50.0

    def consume(self) -> None:
        for name in self.load:
            self.load[name] *= 1.0 + 0.01 * float(self.rng.standard_normal())

    def balance(self) -> None:
        total = 0.0
        for name in self.on:  # ZOO: guilty
            total += self.load[name]  # ZOO: also
        self.total = total
        self.frequency += 1e-6 * (1000.0 - total)

    def state(self) -> dict:
        return {"load": self.load, "total": self.total, "frequency": self.frequency}

    def restore(self, state: dict) -> None:
        self.load, self.total = state["load"], state["total"]
        self.frequency = state["frequency"]


def main(run) -> None:
    grid = run.track("grid", Grid(run.rng("consumers")))
    for _ in run.ticks(20):
        grid.consume()
        grid.balance()
