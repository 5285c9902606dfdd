"""Grinding a telescope lens: the figure error is measured by many rays and polished off pass by pass."""
import numpy as np
from scipy import ndimage, optimize

RAYS = 240_000


class Blank:
    def __init__(self, rng):
        self.figure = ndimage.gaussian_filter(rng.normal(0.0, 40.0, size=(48, 48)), 3.0)
        self.rays = rng.normal(0.0, 1.0, size=RAYS)
        self.weights = rng.uniform(0.2, 1.0, size=RAYS)
        self.passes = 0

    def spherical(self):
        """Wavefront error sensed by the ray bundle."""
        return np.dot(self.rays, self.weights) / np.sqrt(RAYS)

    def rms(self):
        return float(np.sqrt(np.mean(self.figure**2)))

    def polish(self, stroke):
        smooth = ndimage.uniform_filter(self.figure, size=5)
        self.figure -= stroke * smooth
        self.rays *= 1.0 - stroke / 50
        self.passes += 1


def best_stroke(blank, wear):
    def cost(stroke):
        return (1.0 - 1.4 * stroke) ** 2 + 0.2 * stroke * wear

    return float(optimize.minimize_scalar(cost, bounds=(0.05, 0.9), method="bounded").x)


class Workshop:
    def __init__(self, blank):
        self.blank = blank
        self.wear = 0.1
        self.error = 0.0
        self.strokes = []

    def work(self, rng):
        self.wear = min(1.0, self.wear + float(rng.uniform(0.0, 0.04)))
        stroke = best_stroke(self.blank, self.wear)
        if self.blank.passes >= 4:
            self.error = float(self.blank.spherical())
        self.blank.polish(stroke)
        self.strokes.append(round(stroke, 5))

    def state(self):
        return {"rms": round(self.blank.rms(), 9), "error": self.error, "wear": round(self.wear, 6),
                "strokes": self.strokes[-3:]}

    def restore(self, state):
        self.error = state["error"]
        self.wear = state["wear"]


def main(run):
    shop = run.track("shop", Workshop(Blank(run.rng("glass"))))
    grit = run.rng("grit")
    for _ in run.ticks(16):
        shop.work(grit)
    return round(shop.blank.rms(), 6)
