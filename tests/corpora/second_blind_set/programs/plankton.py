"""Plankton in a water column; a storm module is switched on in autumn."""

import time

import numpy as np


class Column:
    def __init__(self, rng, depth=30):
        self.rng = rng
        self.cells = rng.gamma(2.0, 10.0, size=depth)
        self.light = np.exp(-np.arange(depth) / 8.0)

    def grow(self, sun):
        self.cells = self.cells * (1.0 + 0.05 * sun * self.light) - 0.0004 * self.cells**2
        self.cells = np.maximum(self.cells, 0.01)

    def diffuse(self):
        up = np.roll(self.cells, -1)
        down = np.roll(self.cells, 1)
        up[-1], down[0] = self.cells[-1], self.cells[0]
        self.cells = self.cells + 0.1 * (up + down - 2 * self.cells)


class Storms:
    """Mixing events. The module is old and came with its own generator."""

    def __init__(self):
        self.stream = np.random.RandomState(time.time_ns() % 2**31)
        self.count = 0

    def maybe(self, column):
        if self.stream.rand() > 0.3:
            return
        top = self.stream.randint(5, len(column.cells))
        column.cells[:top] = column.cells[:top].mean()
        self.count += 1


class Grazers:
    def __init__(self, rng):
        self.rng = rng
        self.biomass = 2.0

    def graze(self, column):
        eaten = column.cells * min(0.2, self.biomass * 0.004)
        column.cells = column.cells - eaten
        self.biomass = 0.95 * self.biomass + 0.01 * float(eaten.sum()) + 0.01 * float(self.rng.random())


def season(day):
    return 0.5 + 0.5 * np.sin(day / 58.0)


def main(run):
    column = Column(run.rng("column"))
    grazers = Grazers(run.rng("grazers"))
    run.track("column", column, fields=["cells"])
    run.track("grazers", grazers, fields=["biomass"])
    storms = None
    for day in run.ticks(60):
        column.grow(season(day))
        column.diffuse()
        grazers.graze(column)
        if day == 30:
            storms = Storms()
        if storms is not None and day > 34:
            storms.maybe(column)
