"""A mean over a set of sensors: added in another order, and never beyond its tolerance."""

from __future__ import annotations

from twice.foundation.comparison import Abs


class Station:
    def __init__(self, rng) -> None:
        self.rng = rng
        self.readings = {f"sensor-{i}": 20.0 + 0.37 * i for i in range(30)}
        self.online = frozenset(self.readings)

    def sample(self) -> None:
        for name in self.readings:
            self.readings[name] += float(self.rng.standard_normal()) * 0.1

    def mean(self) -> float:
        total = 0.0
        for name in self.online:  # ZOO: guilty
            total += self.readings[name]
        return total / len(self.online)


class Average:
    def __init__(self) -> None:
        self.value = 20.0

    def state(self) -> dict:
        return {"value": self.value}

    def restore(self, state: dict) -> None:
        self.value = state["value"]


def main(run) -> None:
    station = Station(run.rng("noise"))
    average = Average()
    run.track("average", average, equivalence=Abs(1e-9))
    for _ in run.ticks(25):
        station.sample()
        average.value = 0.8 * average.value + 0.2 * station.mean()
