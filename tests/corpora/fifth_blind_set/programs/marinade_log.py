"""Marinating trays: salt moves into meat; the time each step took is written to a log nobody compares."""
import os
import time
from contextlib import contextmanager


class Tray:
    def __init__(self, salt, weight):
        self.salt = salt
        self.inside = 0.0
        self.weight = weight

    def soak(self, rate):
        moved = (self.salt - self.inside) * rate
        self.inside += moved
        self.salt -= moved * 0.2
        return moved


@contextmanager
def timed(label, sink):
    started = time.perf_counter()
    try:
        yield
    finally:
        sink.write(f"{label} took {time.perf_counter() - started:.9f}\n")
        sink.flush()


class Cellar:
    def __init__(self, trays):
        self.trays = trays
        self.turned = 0

    def state(self):
        return {"inside": [t.inside for t in self.trays], "turned": self.turned}

    def restore(self, state):
        for tray, inside in zip(self.trays, state["inside"]):
            tray.inside = inside
        self.turned = state["turned"]


def herbs(names):
    """The order of a set is summed away."""
    return sum(len(name) for name in set(names)) / 1000


def main(run):
    rng = run.rng("cuts")
    trays = [Tray(float(rng.uniform(4, 9)), float(rng.uniform(0.5, 2))) for _ in range(5)]
    cellar = run.track("cellar", Cellar(trays))
    sink = open(os.devnull, "w")
    for tick in run.ticks(15):
        with timed(f"soak {tick}", sink):
            for tray in trays:
                tray.soak(0.05 + herbs(["thyme", "bay", "juniper", "mace"]))
        if rng.random() < 0.3:
            cellar.turned += 1
    sink.close()
    return round(sum(t.inside for t in trays), 6)
