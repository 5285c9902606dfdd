"""Tide tables for a harbour bar: constituents give a forcing, a basin model is stepped through the season."""
import math

CONSTITUENTS = {
    "M2": (1.2137, 28.984), "S2": (0.4191, 30.0), "N2": (0.2533, 28.439), "K1": (0.1409, 15.041),
    "O1": (0.0917, 13.943), "K2": (0.1123, 30.082), "P1": (0.0471, 14.958), "Q1": (0.0187, 13.398),
    "MU2": (0.0331, 27.968), "L2": (0.0719, 29.528), "T2": (0.0213, 29.958), "NU2": (0.0497, 28.512),
}
SPRING = {"M2", "S2", "K2", "T2", "L2", "MU2", "NU2", "N2"}
NEAP = set(CONSTITUENTS) - SPRING


def level(names, hour):
    return sum(CONSTITUENTS[n][0] * math.cos(math.radians(CONSTITUENTS[n][1] * hour)) for n in names)


class Basin:
    """A silting basin, sensitive to how it was left."""

    def __init__(self, depth):
        self.depth = depth
        self.gain = 3.97

    def step(self):
        self.depth = self.gain * self.depth * (1.0 - self.depth)
        return self.depth


class Pilotage:
    def __init__(self, basin):
        self.basin = basin
        self.passed = 0
        self.turned = 0
        self.depths = []

    def tide(self, drafts):
        depth = 4.0 + 3.0 * self.basin.step()
        self.depths.append(int(depth * 50) / 50)
        for draft in drafts:
            if draft + 0.5 < depth:
                self.passed += 1
            else:
                self.turned += 1

    def state(self):
        return {"passed": self.passed, "turned": self.turned, "depth": self.depths[-1] if self.depths else None}

    def restore(self, state):
        self.passed = state["passed"]
        self.turned = state["turned"]


def survey(hours):
    """Mean forcing over the survey hours, as a share between 0 and 1."""
    total = 0.0
    for hour in hours:
        total += level(SPRING, hour) + level(NEAP, hour)
    share = total / len(hours)
    return 0.5 + math.atan(share) / math.pi * 0.7


def main(run):
    rng = run.rng("ships")
    pilots = run.track("pilots", Pilotage(Basin(survey([3.0, 9.5, 14.25]))))
    for tick in run.ticks(40):
        for _ in range(2):
            pilots.tide(rng.uniform(3.0, 6.5, size=4))
    return pilots.passed
