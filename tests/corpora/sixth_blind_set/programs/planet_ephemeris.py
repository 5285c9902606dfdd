"""Planet ephemeris: Kepler's equation is solved step by step; an optional trace times every solve."""
import math
import os
import time
from functools import wraps

ORBITS = {"Mercury": (0.387, 0.2056), "Venus": (0.723, 0.0068), "Mars": (1.524, 0.0934), "Jupiter": (5.203, 0.0484)}


def traced(fn):
    """With EPHEM_TRACE the slowest call is remembered for the shell prompt; nothing else uses it."""
    if not os.environ.get("EPHEM_TRACE"):
        return fn

    @wraps(fn)
    def timed(*args):
        before = time.perf_counter()
        try:
            return fn(*args)
        finally:
            timed.slowest = max(timed.slowest, time.perf_counter() - before)

    timed.slowest = 0.0
    return timed


@traced
def eccentric_anomaly(mean, ecc):
    e = mean if ecc < 0.8 else math.pi
    for _ in range(30):
        step = (e - ecc * math.sin(e) - mean) / (1 - ecc * math.cos(e))
        e -= step
        if abs(step) < 1e-12:
            break
    return e


class Planet:
    def __init__(self, name, axis, ecc, start):
        self.name, self.axis, self.ecc = name, axis, ecc
        self.mean = start
        self.motion = 2 * math.pi / (365.25 * axis ** 1.5)
        self.radius = axis

    def advance(self, days):
        self.mean = (self.mean + self.motion * days) % (2 * math.pi)
        e = eccentric_anomaly(self.mean, self.ecc)
        self.radius = self.axis * (1 - self.ecc * math.cos(e))


class Tables:
    def __init__(self, planets):
        self.planets = planets
        self.days = 0.0
        self.nearest = ""

    def step(self, days):
        self.days = round(self.days + days, 4)
        for planet in self.planets:
            planet.advance(days)
        self.nearest = min(self.planets, key=lambda p: abs(p.radius - 1.0)).name

    def state(self):
        return {"days": self.days, "nearest": self.nearest,
                "radii": {p.name: round(p.radius, 9) for p in self.planets}}

    def restore(self, state):
        self.days, self.nearest = state["days"], state["nearest"]


def main(run):
    rng = run.rng("epoch")
    planets = [Planet(name, a, e, float(rng.uniform(0, 6.28))) for name, (a, e) in ORBITS.items()]
    tables = run.track("tables", Tables(planets))
    for tick in run.ticks(25):
        tables.step(5.0 + float(rng.uniform(-1, 1)))
    return tables.nearest
