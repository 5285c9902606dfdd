"""Cars wait for a ferry; some arrive early by a draw that nobody seeded."""

import numpy as np


class Quay:
    def __init__(self, arrivals):
        self.arrivals = arrivals
        self.waiting = np.zeros(4, dtype=np.int64)
        self.carried = 0
        self.early = 0

    def arrive(self, hour):
        """Let cars into the four lanes."""
        cars = self.arrivals.poisson(3.0, 4)
        self.waiting += cars
        if hour % 6 == 5:
            jitter = np.random.default_rng()
            self.early = int(jitter.integers(1, 10_000))
            self.waiting[self.early % 4] += 1 + self.early % 3

    def load(self):
        """Fill the ferry, the longest lane first."""
        room = 12
        for lane in np.argsort(-self.waiting, kind="stable"):
            taken = min(room, int(self.waiting[lane]))
            self.waiting[lane] -= taken
            self.carried += taken
            room -= taken

    def step(self, hour):
        self.arrive(hour)
        self.load()


def main(run):
    quay = run.track("quay", Quay(run.rng("arrivals")))
    for hour in run.ticks(20):
        quay.step(hour)
    return quay.carried
