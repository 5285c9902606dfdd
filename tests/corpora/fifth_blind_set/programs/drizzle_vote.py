"""Drizzle vote: gauges vote wet or dry; the tally is free of order."""
from collections import Counter

GAUGES = ["arch", "barn", "creek", "dyke", "elm", "ford", "gate", "heath", "inn"]


class Gauge:
    def __init__(self, name):
        self.name = name
        self.tenths = 0

    def fill(self, amount):
        self.tenths += amount

    @property
    def wet(self):
        return self.tenths % 7 > 3


class Panel:
    def __init__(self, names):
        self.gauges = {n: Gauge(n) for n in names}
        self.reporting = set()
        self.total = 0
        self.votes = Counter()
        self.wet_names = []

    def report(self, names):
        self.reporting |= set(names)

    def count(self):
        wet = []
        for name in self.reporting:
            gauge = self.gauges[name]
            self.total += gauge.tenths
            self.votes["wet" if gauge.wet else "dry"] += 1
            if gauge.wet:
                wet.append(name)
        self.wet_names = sorted(wet)

    def state(self):
        return {"total": self.total, "wet": self.votes["wet"], "dry": self.votes["dry"],
                "names": list(self.wet_names)}

    def restore(self, state):
        self.total = state["total"]
        self.votes = Counter(wet=state["wet"], dry=state["dry"])


def main(run):
    rng = run.rng("gauges")
    panel = run.track("panel", Panel(GAUGES))
    for tick in run.ticks(20):
        for gauge in panel.gauges.values():
            gauge.fill(int(rng.integers(0, 9)))
        panel.report(GAUGES[: 2 + tick % 8])
        panel.count()
    return panel.total
