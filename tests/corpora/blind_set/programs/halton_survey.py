"""A survey ship takes soundings at points of a design, and a map of the sea bed is fitted."""

import numpy as np
from scipy import spatial
from scipy.stats import qmc


class SeaBed:
    """What is really down there."""

    def __init__(self, rng):
        self.hills = rng.random((6, 2))
        self.heights = rng.uniform(5.0, 40.0, size=6)

    def depth(self, point):
        away = ((self.hills - point) ** 2).sum(axis=1)
        return 100.0 - float((self.heights * np.exp(-20.0 * away)).sum())


class Plan:
    """Where to sound: first a grid along the coast, then points of a design that fills the bay."""

    def __init__(self, coast, bay):
        sampler = qmc.Halton(d=2)  # guilty
        lattice = qmc.LatinHypercube(d=2, rng=np.random.default_rng(3))  # innocent
        self.coast = np.column_stack([np.linspace(0, 1, coast), np.full(coast, 0.02)])
        self.check = lattice.random(8)
        self.bay = qmc.scale(sampler.random(bay), [0.0, 0.05], [1.0, 1.0])

    def point(self, tick):
        if tick < len(self.coast):
            return self.coast[tick]
        return self.bay[(tick - len(self.coast)) % len(self.bay)]


class Map:
    def __init__(self):
        self.points = []
        self.depths = []

    def add(self, point, depth):
        self.points.append(point)
        self.depths.append(depth)

    def guess(self, point):
        tree = spatial.cKDTree(np.array(self.points))
        _, nearest = tree.query(point)
        return self.depths[int(nearest)]  # innocent


class Ship:
    def __init__(self):
        self.at = [0.0, 0.0]
        self.sailed = 0.0
        self.error = 0.0

    def sail(self, point):
        self.sailed += float(np.hypot(*(point - np.array(self.at))))
        self.at = [float(v) for v in point]


def main(run):
    bed = SeaBed(run.rng("bed"))
    ship = run.track("ship", Ship())
    tides = run.track("tides", {"level": 0.0, "high": 0})
    sonar, moon = run.rng("sonar"), run.rng("moon")
    plan, chart = Plan(coast=14, bay=20), Map()
    for tick in run.ticks(34):
        point = plan.point(tick)
        ship.sail(point)
        chart.add(point, bed.depth(point) + float(sonar.normal(0, 0.1)))
        ship.error = float(np.mean([abs(chart.guess(p) - bed.depth(p)) for p in plan.check]))
        tides["level"] = float(np.sin(tick / 3.0) + 0.05 * moon.normal())  # innocent
        tides["high"] += tides["level"] > 0.9
