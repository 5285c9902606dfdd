"""Figure skating: the starting draw is made by a generator seeded from the clock unless a seed is given."""
import random
import time


class Skater:
    def __init__(self, name, skill):
        self.name = name
        self.skill = skill
        self.marks = 0.0

    def skate(self, rng, ice):
        mark = self.skill * ice + rng.normal(0, 0.2)
        self.marks += mark
        return mark


class Referee:
    def __init__(self, seed=None):
        if seed is None:
            seed = time.time_ns() & 0xFFFFFF
        self.dice = random.Random(seed)

    def draw(self, skaters):
        order = list(skaters)
        self.dice.shuffle(order)
        return order


class Rink:
    def __init__(self, skaters):
        self.skaters = skaters
        self.ice = 1.0

    def flood(self):
        self.ice = 1.0

    def state(self):
        return {"marks": {s.name: s.marks for s in self.skaters}, "ice": self.ice}

    def restore(self, state):
        self.ice = state["ice"]
        for skater in self.skaters:
            skater.marks = state["marks"][skater.name]


def main(run):
    rng = run.rng("judges")
    rink = run.track("rink", Rink([Skater(n, float(rng.uniform(4, 6))) for n in ("Yuna", "Katia", "Brian", "Kurt", "Midori")]))
    referee = Referee()
    for tick in run.ticks(12):
        for skater in referee.draw(rink.skaters):
            skater.skate(rng, rink.ice)
            rink.ice *= 0.98
        rink.flood()
    return len(rink.skaters)
