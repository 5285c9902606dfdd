"""Barrier options by simulation: many paths a tick, each a cheap walk of whole numbers."""

import time

PATHS = 20_000
BARRIER = 23


class Walker:
    """A linear congruential generator and the walk that it drives."""

    def __init__(self, seed):
        self.word = seed & 0xFFFFFFFF

    def draw(self):
        self.word = (self.word * 1664525 + 1013904223) & 0xFFFFFFFF
        return self.word >> 16

    def stir(self, word):
        self.word ^= word & 0xFFFFFFFF


class Desk:
    def __init__(self):
        self.knocked = 0
        self.alive = 0
        self.payoff = 0

    def book(self, height, top):
        if top >= BARRIER:
            self.knocked += 1
        else:
            self.alive += 1
            self.payoff += max(0, height)


class Watchdog:
    """Looks at the clock now and then, so that nobody waits for ever."""

    def __init__(self, every):
        self.every = every
        self.count = 0
        self.began = time.monotonic()

    def look(self):
        self.count += 1
        if self.count % self.every == 0 and time.monotonic() - self.began > 120:  # innocent
            raise TimeoutError("the desk closes")


def path(walker):
    height = top = 0
    for _ in range(5):
        height += walker.draw() % 15 - 7
        if height > top:
            top = height
    return height, top


def simulate(walker, desk, dog, tick):
    for k in range(PATHS):
        height, top = path(walker)
        desk.book(height, top)
        if not k & 0x3FFF:
            dog.look()
        if tick == 3 and k == 13_131:
            walker.stir(time.monotonic_ns())  # guilty


def main(run):
    desk = run.track("desk", Desk())
    rates = run.track("rates", {"short": 0.02, "long": 0.035})
    seeds, shocks = run.rng("seeds"), run.rng("shocks")
    walker = Walker(int(seeds.integers(1 << 32)))
    dog = Watchdog(every=2)
    tenors = {"short", "long"}
    for tick in run.ticks(6):
        simulate(walker, desk, dog, tick)
        for tenor in sorted(tenors):  # innocent
            rates[tenor] += float(shocks.normal(0, 1e-4))
        rates["short"] = min(rates["short"], rates["long"])  # innocent
