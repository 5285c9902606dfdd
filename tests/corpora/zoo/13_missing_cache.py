"""Couriers on a map whose roads get slower; routes are remembered in a cache outside state()."""

from __future__ import annotations


class Map:
    def __init__(self, rng) -> None:
        self.rng = rng
        self.cost = {(i, j): 1.0 + (i * 7 + j * 3) % 5 for i in range(6) for j in range(6)}
        self._routes: dict[tuple[int, int], float] = {}

    def route(self, start: int, goal: int) -> float:
        known = self._routes.get((start, goal))  # ZOO: also
        if known is None:
            known = min(self.cost[start, k] + self.cost[k, goal] for k in range(6))
            self._routes[start, goal] = known
        return known

    def wear(self) -> None:
        for road in self.cost:
            self.cost[road] *= 1.0 + 0.05 * self.rng.random()

    def state(self) -> dict:
        return {"cost": [[i, j, cost] for (i, j), cost in self.cost.items()]}

    def restore(self, state: dict) -> None:
        self.cost = {(i, j): cost for i, j, cost in state["cost"]}


class Couriers:
    def __init__(self, streets: Map) -> None:
        self.streets = streets
        self.travelled = [0.0] * 4

    def deliver(self, tick: int) -> None:
        for courier in range(4):
            start, goal = (tick + courier) % 6, (tick * 2 + courier) % 6
            self.travelled[courier] += self.streets.route(start, goal)  # ZOO: guilty

    def state(self) -> dict:
        return {"travelled": self.travelled}

    def restore(self, state: dict) -> None:
        self.travelled = state["travelled"]


def main(run) -> None:
    streets = run.track("map", Map(run.python("weather")))
    couriers = run.track("couriers", Couriers(streets))
    for tick in run.ticks(24):
        streets.wear()
        couriers.deliver(tick)
