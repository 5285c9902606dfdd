"""Lambing season: ewes carry for some weeks; twins and losses come from a ram's record that was drawn up at tupping."""
import random
import time
from collections import deque

GESTATION = 15


class Ram:
    def __init__(self, tag, tupped_at):
        self.tag = tag
        self.genes = random.Random(tupped_at)

    def sire(self, ewe):
        return Lamb(ewe, self)


class Lamb:
    """A pregnancy; nothing is decided before the birth."""

    def __init__(self, ewe, ram):
        self.ewe, self.ram = ewe, ram

    def born(self):
        roll = self.ram.genes.random()
        number = 2 if roll < 0.5 else 1
        return [round(3.0 + self.ram.genes.gauss(0.8, 0.3) + 0.1 * self.ewe % 1, 3) for _ in range(number)]


class Season:
    def __init__(self, stamp):
        self.stamp = stamp
        self.calendar = deque()

    @property
    def waiting(self):
        return len(self.calendar)

    def tup(self, tick, ewe, ram):
        self.calendar.append((tick + GESTATION, ram.sire(ewe)))

    def births(self, tick):
        while self.calendar and self.calendar[0][0] <= tick:
            _, lamb = self.calendar.popleft()
            yield from lamb.born()


def open_season():
    started = time.time_ns()
    return Season(started)


def main(run):
    rnd = run.streams.python("tupping")
    season = open_season()
    rams = [Ram(tag, season.stamp // 1000 + i) for i, tag in enumerate(("R1", "R2", "R3"))]
    flock = run.track("flock", {"ewes": 60, "lambs": 0, "weight": 0.0, "carrying": 0})
    fodder = run.track("fodder", {"hay": 900.0})
    for tick in run.ticks(32):
        if tick < 10:
            for _ in range(rnd.randint(1, 4)):
                season.tup(tick, rnd.randrange(60), rnd.choice(rams))
        for weight in season.births(tick):
            flock["lambs"] += 1
            flock["weight"] = round(flock["weight"] + weight, 3)
        flock["carrying"] = season.waiting
        fodder["hay"] = round(fodder["hay"] - 0.2 * flock["ewes"] - 0.15 * season.waiting, 2)
    return {"carrying": season.waiting, "hay": fodder["hay"]}
