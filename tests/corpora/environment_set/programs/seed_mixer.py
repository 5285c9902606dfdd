"""Mix grass seed for fields; the share of clover comes from the surroundings."""

import os

import numpy as np

KINDS = ("rye", "fescue", "clover", "timothy")


class Mixer:
    def __init__(self, fields):
        self.fields = fields
        self.stock = np.full(len(KINDS), 4000, dtype=np.int64)
        self.sown = {}

    def shares(self):
        """Return the shares of the kinds in thousandths."""
        clover = int(os.environ.get("CLOVER_SHARE", "120"))
        rest = 1000 - clover
        return np.array([rest // 2, rest // 4, clover, rest - rest // 2 - rest // 4])

    def sow(self, field, area):
        """Take seed for one field out of the stock."""
        wanted = self.shares() * area // 1000
        taken = np.minimum(wanted, self.stock)
        self.stock -= taken
        self.sown[f"field {field}"] = int(taken.sum())

    def refill(self):
        low = self.stock < 500
        self.stock[low] += 1500


def main(run):
    mixer = run.track("mixer", Mixer(8))
    areas = run.rng("areas")
    for field in run.ticks(16):
        mixer.sow(field, int(areas.integers(100, 400)))
        mixer.refill()
    return int(mixer.stock.sum())
