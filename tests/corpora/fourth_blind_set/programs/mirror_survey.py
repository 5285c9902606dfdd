"""A survey telescope: exposures are scheduled per target, clouds hold the dome shut for the first nights."""
from functools import partial

import numpy as np

TARGETS = ["M31", "M33", "NGC 253", "NGC 300", "IC 10", "Leo A"]
DEPTH = {"M31": 9.0, "M33": 7.5, "NGC 253": 6.0, "NGC 300": 5.5, "IC 10": 4.0, "Leo A": 3.0}


def photons(generator, level, shape):
    frame = generator.poisson(level, size=shape).astype(float)
    frame += generator.normal(0.0, 0.8, size=shape)
    return frame


def source_for(target):
    seed = abs(hash(("survey", target))) % 2**32
    generator = np.random.default_rng(seed)
    return partial(photons, generator, DEPTH[target])


class Pipeline:
    def __init__(self, shape):
        self.shape = shape
        self.bias = np.zeros(shape)
        self.stacks = {}
        self.darks = 0

    def dark(self, rng):
        frame = rng.normal(2.0, 0.5, size=self.shape)
        self.darks += 1
        self.bias += (frame - self.bias) / self.darks

    def light(self, target, expose):
        frame = expose(self.shape) - self.bias
        flat = frame / np.median(np.abs(frame) + 1.0)
        kept = np.clip(flat, *np.percentile(flat, [2, 98]))
        total, count = self.stacks.get(target, (np.zeros(self.shape), 0))
        self.stacks[target] = (total + kept, count + 1)

    def state(self):
        return {
            "bias": round(float(self.bias.mean()), 6),
            "darks": self.darks,
            "flux": {name: round(float(total.mean() / count), 6) for name, (total, count) in self.stacks.items()},
        }

    def restore(self, state):
        self.darks = state["darks"]


def schedule(nights, weather):
    closed = int(weather.integers(9, 12))
    for night in range(nights):
        yield [] if night < closed else [TARGETS[(night + k) % len(TARGETS)] for k in range(2)]


def main(run):
    pipeline = run.track("pipeline", Pipeline((16, 16)))
    sources = {name: source_for(name) for name in TARGETS}
    darks = run.rng("darks")
    plan = schedule(24, run.rng("weather"))
    for tick in run.ticks(24):
        tonight = next(plan)
        if not tonight:
            pipeline.dark(darks)
        for target in tonight:
            pipeline.light(target, sources[target])
    return sorted(pipeline.stacks)
