"""Seeds come from a closure that counts: a thumbnail that nobody asked for uses one up."""

from __future__ import annotations

import os
import random


def numbering(start):
    last = start

    def following():
        nonlocal last
        last += 1  # ZOO: guilty
        return last

    return following


class Layout:
    def __init__(self, edges):
        self.edges = edges
        self.next_seed = numbering(100)
        self.pos = {}

    def scatter(self, nodes):
        rng = random.Random(self.next_seed())  # ZOO: also
        for node in nodes:
            self.pos[node] = [rng.uniform(-1, 1), rng.uniform(-1, 1)]

    def thumbnail(self):
        jitter = random.Random(self.next_seed())  # ZOO: also
        return [round(x + jitter.random(), 2) for x, _ in self.pos.values()]

    def relax(self):
        for a, b in self.edges:
            if a in self.pos and b in self.pos:
                for axis in (0, 1):
                    pull = 0.1 * (self.pos[b][axis] - self.pos[a][axis])
                    self.pos[a][axis] += pull
                    self.pos[b][axis] -= pull

    def state(self):
        return {"pos": self.pos}


def main(run):
    layout = run.track("layout", Layout([(i, (i * 3 + 1) % 10) for i in range(10)]))
    for tick in run.ticks(12):
        if tick % 4 == 0:
            layout.scatter(range(tick // 4 * 3, tick // 4 * 3 + 4))
        if tick == 5 and os.getenv("ZOO_THUMB"):
            layout.thumbnail()  # ZOO: also
        layout.relax()
