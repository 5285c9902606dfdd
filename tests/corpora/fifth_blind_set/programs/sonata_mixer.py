"""Mixer: several stems summed in blocks, a normaliser that warms up first."""
import os
import numpy as np


def worker_count(default=1):
    text = os.environ.get("OMP_NUM_THREADS", "")
    return int(text) if text.isdigit() else default


class BlockSum:
    def __init__(self, workers):
        self.workers = workers

    def __call__(self, samples):
        partials = []
        for block in np.array_split(samples, self.workers):
            total = np.float32(0.0)
            for value in block:
                total = np.float32(total + value)
            partials.append(total)
        result = np.float32(0.0)
        for p in partials:
            result = np.float32(result + p)
        return float(result)


class Normaliser:
    def __init__(self, reduce, warmup):
        self.reduce, self.warmup, self.gain = reduce, warmup, 1.0
        self.peak = 0.0
        self.seen = 0

    def feed(self, samples):
        self.seen += 1
        self.peak = max(self.peak, float(np.abs(samples).max()))
        if self.seen > self.warmup:
            level = self.reduce(np.abs(samples)) / len(samples)
            self.gain = 0.9 * self.gain + 0.1 * (0.5 / level)

    def state(self):
        return {"gain": self.gain, "peak": self.peak, "seen": self.seen}

    def restore(self, state):
        self.gain, self.peak, self.seen = state["gain"], state["peak"], state["seen"]


def main(run):
    rng = run.rng("stems")
    reduce = BlockSum(worker_count())
    mixer = run.track("mixer", Normaliser(reduce, warmup=11))
    for _ in run.ticks(18):
        stems = rng.normal(0, 0.3, size=(4, 700)).astype(np.float32)
        mixer.feed(stems.sum(axis=0))
    return mixer.gain
