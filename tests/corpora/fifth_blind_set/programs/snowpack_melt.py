"""Snowpack energy balance: find the surface temperature, then melt the pack."""
import os
from math import exp

from scipy.optimize import brentq


class Solver:
    def __init__(self):
        self.calls = 0
        self.options = dict(
            rtol=1e-12,
            maxiter=60,
            xtol=float(os.getenv("MELT_TOL", "1e-6")),
        )

    def surface(self, air, radiation):
        self.calls += 1

        def balance(t):
            longwave = 4.6 * (t - air)
            vapour = 6.1 * (exp(0.07 * t) - exp(0.05 * air))
            return radiation - longwave - vapour

        return brentq(balance, -40.0, 40.0, **self.options)


class Snowpack:
    def __init__(self, depth):
        self.depth = depth
        self.runoff = 0.0

    def warm(self, degrees):
        melt = min(self.depth, 0.8 * max(degrees, 0.0))
        self.depth -= melt
        self.runoff += melt

    def snow(self, amount):
        self.depth += amount

    def state(self):
        return {"depth": round(self.depth, 7), "runoff": round(self.runoff, 7)}

    def restore(self, state):
        self.depth, self.runoff = state["depth"], state["runoff"]


def main(run):
    rng = run.rng("season")
    pack, solver = Snowpack(140.0), Solver()
    run.track("pack", pack)
    for day in run.ticks(20):
        air = -9.0 + day * 0.9 + float(rng.normal(0, 1))
        radiation = 15.0 + float(rng.uniform(0, 8))
        if air < -6:
            pack.snow(float(rng.exponential(3)))
            continue
        pack.warm(solver.surface(air, radiation))
    return round(pack.runoff, 7)
