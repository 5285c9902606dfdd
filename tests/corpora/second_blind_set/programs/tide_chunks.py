"""Tidal energy: a long series is integrated in chunks, one for each worker that is configured."""

import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np

WORKERS = int(os.environ.get("TIDE_WORKERS", "1"))


def chunks(series, count):
    """Equal pieces; the last takes what is left."""
    length = -(-len(series) // count)
    for start in range(0, len(series), length):
        yield series[start : start + length]


def energy(piece):
    total = np.float32(0.0)
    for value in piece:
        total += value * value
    return total


class Turbine:
    def __init__(self, rng, blades=3):
        self.rng = rng
        self.blades = blades
        self.wear = 0.0
        self.harvest = 0.0
        self.archive = []

    def flow(self, tick, samples=1200):
        base = 2.0 * np.sin(tick / 3.0 + np.linspace(0.0, 0.5, samples))
        return (base + 0.2 * self.rng.standard_normal(samples)).astype(np.float32)

    def turn(self, tick):
        current = self.flow(tick)
        self.wear += float(np.abs(current).max()) * 1e-4
        self.archive.append(current)

    def collect(self, pool):
        """Integrate everything that came since the last collection."""
        series = np.concatenate(self.archive)
        self.archive.clear()
        parts = list(pool.map(energy, chunks(series, WORKERS)))
        total = np.float32(0.0)
        for part in parts:
            total += part
        self.harvest += float(total) * 0.01

    def state(self):
        return {"wear": self.wear, "harvest": self.harvest}

    def restore(self, state):
        self.wear, self.harvest = state["wear"], state["harvest"]


class Moon:
    def __init__(self):
        self.age = 0.0

    def wax(self):
        self.age = (self.age + 0.0345) % 29.53


def main(run):
    turbine = run.track("turbine", Turbine(run.rng("flow")))
    moon = run.track("moon", Moon())
    with ThreadPoolExecutor(max_workers=2) as pool:
        for tick in run.ticks(24):
            moon.wax()
            turbine.turn(tick)
            if tick % 8 == 7:
                turbine.collect(pool)
