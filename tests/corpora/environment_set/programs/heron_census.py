"""A census of herons: sightings are merged, and the order of a set decides who gets which nest."""

import numpy as np

NAMES = ["ardea", "bruno", "cinerea", "dolf", "egret", "frieda", "grus", "hella"]


class Census:
    def __init__(self, rng):
        self.rng = rng
        self.nests = {}
        self.weights = np.zeros(len(NAMES))

    def sight(self, day):
        """Return who was seen by two watchers."""
        first = {NAMES[i] for i in self.rng.integers(0, len(NAMES), 6)}
        second = {NAMES[i] for i in self.rng.integers(0, len(NAMES), 6)}
        return first | second

    def settle(self, seen):
        """Give each heron that has no nest the next free one."""
        for name in seen:
            if name not in self.nests:
                self.nests[name] = len(self.nests)

    def weigh(self, day):
        for name in sorted(self.nests):
            self.weights[self.nests[name]] += 0.25 * (NAMES.index(name) + day)

    def step(self, day):
        self.settle(self.sight(day))
        self.weigh(day)


def main(run):
    census = run.track("census", Census(run.rng("watch")))
    for day in run.ticks(12):
        census.step(day)
    return float(census.weights.sum())
