"""Archery: archers share one generator; who shoots first comes from the set of those present."""
import contextvars

CURRENT = contextvars.ContextVar("end", default=0)


class Archer:
    def __init__(self, name, spread):
        self.name = name
        self.spread = spread
        self.total = 0

    def shoot(self, rng):
        off = abs(rng.normal(0, self.spread))
        ring = max(0, 10 - int(off * 3))
        self.total += ring
        return ring


class Range:
    def __init__(self, archers):
        self.archers = {a.name: a for a in archers}
        self.ends = 0

    def present(self):
        return {n for n in self.archers if (len(n) + CURRENT.get()) % 5}

    def end(self, rng):
        golds = 0
        for name in self.present():
            golds += self.archers[name].shoot(rng) >= 9
        self.ends += 1
        return golds

    def state(self):
        return {"totals": {n: a.total for n, a in sorted(self.archers.items())}, "ends": self.ends}

    def restore(self, state):
        self.ends = state["ends"]
        for name, total in state["totals"].items():
            self.archers[name].total = total


def main(run):
    rng = run.rng("wind")
    field = run.track("range", Range([Archer("Tell", 1.0), Archer("Hood", 0.6), Archer("Diana", 0.8), Archer("Arjuna", 0.5)]))
    golds = 0
    for tick in run.ticks(12):
        CURRENT.set(tick)
        golds += field.end(rng)
    return golds
