"""A survey telescope: targets, clouds, exposures, and a debug view with jitter of its own."""

import os

import numpy as np


class Sky:
    def __init__(self, rng, count=30):
        self.rng = rng
        self.height = rng.uniform(10, 90, size=count)
        self.faint = rng.uniform(14, 21, size=count)
        self.cloud = 0.2

    def hour(self):
        self.height = np.clip(self.height + self.rng.normal(0, 3, size=len(self.height)), 5, 90)
        self.cloud = float(np.clip(self.cloud + self.rng.normal(0, 0.05), 0, 1))


class DebugView:
    """Dots are moved apart a little so that none hides another."""

    def __init__(self, seed):
        self.jitter = np.random.default_rng(seed)
        self.dots = None

    def draw(self, sky):
        self.dots = np.column_stack([sky.height, sky.faint]) + self.jitter.normal(0, 0.4, size=(len(sky.height), 2))


class Telescope:
    def __init__(self, rng):
        self.rng = rng
        self.done = {}
        self.lost = 0

    def choose(self, sky):
        merit = sky.height - 2.0 * sky.faint
        for target in self.done:
            merit[target] -= 25.0 * self.done[target]
        return int(np.argmax(merit))

    def expose(self, sky):
        target = self.choose(sky)
        if float(self.rng.random()) < sky.cloud:
            self.lost += 1
        else:
            self.done[target] = self.done.get(target, 0) + 1

    def state(self):
        return {"done": {str(target): count for target, count in self.done.items()}, "lost": self.lost}

    def restore(self, state):
        self.done = {int(target): count for target, count in state["done"].items()}
        self.lost = state["lost"]


def main(run):
    sky = Sky(run.rng("sky"))
    run.track("sky", sky, fields=["height", "cloud"])
    telescope = run.track("telescope", Telescope(run.rng("telescope")))
    view = DebugView(seed=99) if os.environ.get("TELESCOPE_VIEW") else None
    for _ in run.ticks(40):
        sky.hour()
        telescope.expose(sky)
        if view is not None:
            view.draw(sky)
