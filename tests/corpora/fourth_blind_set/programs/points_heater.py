"""Heated railway points: each depot has a wear figure that matters once the frost comes."""
import time
from functools import lru_cache

DEPOTS = ("Crewe", "Derby", "Ely", "Frome")


@lru_cache(maxsize=None)
def commissioned(depot):
    """When the depot's controller came up, in microseconds."""
    return time.time_ns() // 1000


@lru_cache(maxsize=None)
def wear(depot):
    age = commissioned(depot) % 9973
    return 1.0 + age / 9973


class Points:
    def __init__(self, depot, count):
        self.depot = depot
        self.heat = [0.0] * count
        self.frozen = 0
        self.wear = wear(depot)

    def step(self, frost, current):
        if frost <= 0:
            self.heat = [max(0.0, h - 1.0) for h in self.heat]
            return 0.0
        used = 0.0
        for index, heat in enumerate(self.heat):
            power = current[index] / self.wear
            self.heat[index] = max(0.0, heat + power - frost)
            used += power
            if self.heat[index] == 0.0:
                self.frozen += 1
        return used


class Network:
    def __init__(self, depots):
        self.points = {d: Points(d, 3) for d in depots}
        self.energy = 0.0
        self.history = []

    def step(self, frost, rng):
        self.history.append(round(frost, 2))
        for depot in DEPOTS:
            current = rng.uniform(2.0, 6.0, size=3)
            self.energy += self.points[depot].step(frost, current)

    def state(self):
        return {"energy": round(self.energy, 5), "frozen": {d: p.frozen for d, p in self.points.items()},
                "history": self.history[-3:]}

    def restore(self, state):
        self.energy = state["energy"]
        for depot, count in state["frozen"].items():
            self.points[depot].frozen = count


def autumn(rng, length):
    for day in range(length):
        yield (day - 15) * 0.4 + float(rng.uniform(-0.3, 0.3))


def main(run):
    network = run.track("network", Network(DEPOTS))
    weather = autumn(run.rng("weather"), 30)
    load = run.rng("load")
    for tick in run.ticks(30):
        network.step(next(weather), load)
    return sum(p.frozen for p in network.points.values())
