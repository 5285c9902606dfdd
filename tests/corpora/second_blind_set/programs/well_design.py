"""Design of experiments for a well field: candidates are spread by a quasi-random design."""

import numpy as np
from scipy.interpolate import RBFInterpolator
from scipy.stats import qmc


class Aquifer:
    """The truth: conductivity on a plane, known only where somebody drills."""

    def __init__(self, rng):
        self.centres = rng.uniform(0, 10, size=(5, 2))
        self.heights = rng.uniform(1, 4, size=5)

    def yield_at(self, points):
        distance = np.linalg.norm(points[:, None, :] - self.centres[None, :, :], axis=2)
        return (self.heights * np.exp(-(distance**2) / 4.0)).sum(axis=1)


class Survey:
    """Seismic lines that cost nothing and say little."""

    def __init__(self, rng):
        self.rng = rng
        self.noise = 0.0
        self.lines = 0

    def shoot(self):
        self.noise = float(self.rng.normal(0, 0.1))
        self.lines += 1


class Campaign:
    def __init__(self, aquifer, budget):
        self.aquifer = aquifer
        self.queue = []
        self.points = np.empty((0, 2))
        self.yields = np.empty(0)
        self.budget = budget
        self.guess = 0.0
        self.design = qmc.LatinHypercube(d=2)

    def plan(self):
        sample = self.design.random(self.budget)
        self.queue = list(qmc.scale(sample, [0, 0], [10, 10]))

    def drill(self):
        if not self.queue:
            return
        point = self.queue.pop()[None, :]
        self.points = np.vstack([self.points, point])
        self.yields = np.append(self.yields, self.aquifer.yield_at(point))

    def interpolate(self):
        if len(self.points) < 4:
            return
        surface = RBFInterpolator(self.points, self.yields, smoothing=1e-3)
        self.guess = round(float(surface(np.array([[5.0, 5.0]]))[0]), 9)

    def state(self):
        return {"best": float(self.yields.max(initial=0.0)), "guess": self.guess, "wells": len(self.points)}

    def restore(self, state):
        self.guess = state["guess"]


def main(run):
    campaign = run.track("campaign", Campaign(Aquifer(run.rng("aquifer")), budget=16))
    survey = Survey(run.rng("survey"))
    run.track("survey", survey, fields=["noise", "lines"])
    campaign.plan()
    for week in run.ticks(30):
        survey.shoot()
        if week >= 12:
            campaign.drill()
        if week % 3 == 0:
            campaign.interpolate()
