"""Lighthouse keepers: a watch bill made once as a generator and drawn from for the whole season."""
from itertools import cycle, islice

KEEPERS = {"Amundsen", "Bjelke", "Carlsen", "Dahl", "Ekeberg", "Falk", "Grieg"}
MASTERS = ["Holm", "Iversen"]


def apprentices(names, spell):
    order = list(names)
    briefed = 0
    while True:
        for name in islice(cycle(order), briefed, briefed + len(order)):
            yield name, spell
        briefed += 1


def season(names):
    for week in range(5):
        for master in MASTERS:
            yield master, 3 + week % 2
    yield from apprentices(names, 2)


def primed(bill):
    """Look one watch ahead, so that the relief is known."""
    current = next(bill)
    for following in bill:
        yield current, following
        current = following


class Lamp:
    def __init__(self, sea):
        self.sea = sea
        self.oil = 90.0
        self.hours = {}
        self.sightings = []

    @property
    def dim(self):
        return self.oil < 20

    def watch(self, keeper, spell):
        swell = self.sea.gauss(1.0, 0.3)
        burn = spell * (1.2 + swell / 4)
        self.oil = 90.0 if self.dim else self.oil - burn
        self.hours[keeper] = self.hours.get(keeper, 0) + spell
        if swell > 1.2:
            self.sightings.append([keeper, round(swell, 3)])

    def state(self):
        return {"oil": round(self.oil, 4), "hours": dict(self.hours), "sightings": [list(s) for s in self.sightings]}

    def restore(self, state):
        self.oil = state["oil"]
        self.hours = dict(state["hours"])
        self.sightings = [list(s) for s in state["sightings"]]


def active(names, retired):
    return {name for name in names if name not in retired}


def main(run):
    lamp = run.track("lamp", Lamp(run.streams.python("sea")))
    bill = primed(season(active(KEEPERS, {"Dahl"})))
    handovers = 0
    for tick in run.ticks(26):
        (keeper, spell), (relief, _) = next(bill)
        lamp.watch(keeper, spell)
        handovers += keeper != relief
    return {"handovers": handovers, "oil": round(lamp.oil, 2)}
