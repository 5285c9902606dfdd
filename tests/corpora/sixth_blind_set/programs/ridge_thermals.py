"""Thermals over a ridge: a small field of lift is relaxed, sampled by gliders and fitted each pass."""
import numpy as np
from scipy import ndimage, optimize

SIZE = 48


class Ridge:
    def __init__(self, rng):
        x = np.linspace(-3, 3, SIZE)
        self.profile = 1 / (1 + 0.5 * x ** 2) + 0.1 * rng.standard_normal(SIZE)
        self.field = np.outer(self.profile, np.linspace(1, 0.2, SIZE))

    def heat(self, sun):
        warmed = ndimage.gaussian_filter(self.field, 1.2, mode="nearest")
        self.field = warmed + 0.05 * sun * self.lift(warmed)

    @staticmethod
    def lift(air):
        angle = 2.5 * air - 0.3
        return np.tanh(angle) * np.exp(-air ** 2)

    def along(self, row):
        return self.field[row % SIZE]


class Gliders:
    """Follow a chaotic search pattern whose phase comes from the lift they feel."""

    def __init__(self, count):
        self.phase = np.linspace(0.1, 0.9, count)
        self.gain = np.zeros(count)

    def circle(self, lift):
        felt = lift[(self.phase * (lift.size - 1)).astype(int)]
        self.gain += felt
        for _ in range(9):
            self.phase = 3.97 * self.phase * (1 - self.phase)
        self.phase = np.clip((self.phase + felt) % 1.0, 1e-3, 1 - 1e-3)

    def state(self):
        return {"phase": [round(float(p), 6) for p in self.phase],
                "gain": [round(float(g), 5) for g in self.gain]}

    def restore(self, state):
        self.phase, self.gain = np.array(state["phase"]), np.array(state["gain"])


def bell(x, height, width):
    return height / (1 + (x / width) ** 2)


def fit(profile):
    x = np.arange(profile.size) - profile.argmax()
    (height, width), _ = optimize.curve_fit(bell, x, profile, p0=(1.0, 8.0), maxfev=2000)
    return height, width


def main(run):
    ridge = Ridge(run.rng("ground"))
    gliders = Gliders(5)
    run.track("gliders", gliders)
    log = run.track("log", {"height": 0.0, "width": 0.0})
    sun = run.rng("sun")
    for tick in run.ticks(20):
        ridge.heat(float(sun.uniform(0.4, 1.0)))
        gliders.circle(ridge.along(tick * 5 + 7))
        if tick % 6 == 5:
            height, width = fit(ridge.along(SIZE // 2))
            log["height"], log["width"] = round(float(height), 4), round(abs(float(width)), 3)
    return log["height"]
