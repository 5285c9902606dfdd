"""Judo ratings: bout weights are summed in chunks, one for each worker thread that the system allows."""
import os
import numpy as np


def workers(default=1):
    return int(os.environ.get("OMP_NUM_THREADS", default))


class Reducer:
    def __init__(self, parts):
        self.parts = parts

    def total(self, values):
        partial = [float(np.cumsum(chunk)[-1]) for chunk in np.array_split(values, self.parts)]
        result = 0.0
        for part in partial:
            result += part
        return result


class Dojo:
    def __init__(self):
        self.rating = 0.0
        self.bouts = 0

    def state(self):
        return {"rating": self.rating, "bouts": self.bouts}

    def restore(self, state):
        self.rating, self.bouts = state["rating"], state["bouts"]


def main(run):
    rng = run.rng("bouts")
    reducer = Reducer(workers())
    dojo = run.track("dojo", Dojo())
    for tick in run.ticks(14):
        values = rng.normal(0, 1, 96) * 10.0 ** rng.integers(-4, 4, 96)
        dojo.bouts += len(values)
        if tick >= 4:
            dojo.rating += reducer.total(values)
    return dojo.rating
