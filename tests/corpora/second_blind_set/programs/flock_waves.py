"""Birds in waves: a flock flies, and every ten minutes newcomers join it."""

import os

import numpy as np

PROFILING = os.environ.get("FLOCK_PROFILE") == "1"
CAPACITY = 60


class Flock:
    def __init__(self, rng, size):
        self.rng = rng
        self.where = rng.uniform(0, 100, size=(size, 2))
        self.speed = np.ones((size, 2))
        self.probe = []

    def cohesion(self):
        centre = self.where.mean(axis=0)
        return (centre - self.where) * 0.01

    def separation(self):
        gap = self.where[:, None, :] - self.where[None, :, :]
        near = (np.abs(gap).sum(axis=2) < 4)[:, :, None]
        return (gap * near).sum(axis=1) * 0.02

    def fly(self):
        self.speed = 0.9 * self.speed + self.cohesion() + self.separation()
        self.where = self.where + np.clip(self.speed, -3, 3)
        if PROFILING:
            self.sample_density()

    def sample_density(self, points=4):
        """How crowded is it at a few places? Only for the profile."""
        for x, y in self.rng.uniform(0, 100, size=(points, 2)):
            self.probe.append(int((np.hypot(self.where[:, 0] - x, self.where[:, 1] - y) < 10).sum()))
        del self.probe[:-100]

    def join(self, count):
        fresh = self.rng.normal(50, 20, size=(count, 2))
        self.where = np.vstack([self.where, fresh])[-CAPACITY:]
        self.speed = np.vstack([self.speed, np.zeros((count, 2))])[-CAPACITY:]

    def state(self):
        return {"where": self.where, "speed": self.speed}

    def restore(self, state):
        self.where, self.speed = state["where"].copy(), state["speed"].copy()


class Hawk:
    """Circles; eats nobody in this version."""

    def __init__(self, rng):
        self.angle = float(rng.uniform(0, 6.28))
        self.rng = rng

    def circle(self):
        self.angle = (self.angle + 0.1 + 0.01 * float(self.rng.standard_normal())) % 6.283


def main(run):
    flock = run.track("flock", Flock(run.rng("flock"), 24))
    hawk = Hawk(run.rng("hawk"))
    run.track("hawk", hawk, fields=["angle"])
    for minute in run.ticks(70):
        flock.fly()
        hawk.circle()
        if minute >= 40 and minute % 10 == 0:
            flock.join(3)
