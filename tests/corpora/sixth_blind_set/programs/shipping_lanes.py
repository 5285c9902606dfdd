"""Lane control: ships at anchor are kept sorted by the ease of their passage and called in as pilots come free."""
import logging

import numpy as np
from sortedcontainers import SortedKeyList

log = logging.getLogger("lanes")
FLEET = {
    "Aurora": 7.0, "Borealis": 9.5, "Cygnet": 6.5, "Dunlin": 8.0, "Egret": 9.0, "Fulmar": 5.0,
    "Gannet": 8.5, "Heron": 5.5, "Ibis": 7.5, "Kestrel": 10.0, "Lapwing": 6.0, "Merlin": 4.0,
}


def ease(depth, draught):
    """Logarithmic margin under the keel, as the old pilots' table has it."""
    try:
        return float(np.log(np.float64(depth) - draught))
    except Exception as err:
        log.debug("no margin: %s", err)
        return 9.0


class Roadstead:
    def __init__(self, depth):
        self.depth = depth
        self.margin = {}
        self.waiting = SortedKeyList(key=lambda ship: (self.margin[ship], ship))

    def anchor(self, ship):
        self.margin[ship] = ease(self.depth, FLEET[ship])
        self.waiting.add(ship)

    def call_in(self):
        """Tightest first, while the water stands."""
        return self.waiting.pop(0)


class Lanes:
    def __init__(self, roads, pilots):
        self.roads = roads
        self.pilots = pilots
        self.under_way = []
        self.miles = 0.0
        self.passed = 0

    def hour(self):
        self.under_way = [(ship, left - 1) for ship, left in self.under_way if left > 1]
        while self.pilots > len(self.under_way) and self.roads.waiting:
            ship = self.roads.call_in()
            self.under_way.append((ship, 1 + len(ship) % 3))
            self.miles = round(self.miles + 1.5 * FLEET[ship], 2)
            self.passed += 1

    def state(self):
        return {"miles": self.miles, "passed": self.passed, "out": [ship for ship, _ in self.under_way],
                "waiting": len(self.roads.waiting)}

    def restore(self, state):
        self.miles, self.passed = state["miles"], state["passed"]


def main(run):
    rng = run.rng("arrivals")
    lanes = run.track("lanes", Lanes(Roadstead(depth=10), pilots=2))
    weather = run.track("weather", {"fog": 4.0})
    names = [sorted(FLEET)[i] for i in rng.permutation(len(FLEET))]
    for tick in run.ticks(24):
        if names and tick % 2 == 0:
            lanes.roads.anchor(names.pop())
        weather["fog"] = round(max(0.0, weather["fog"] - 0.25 * float(rng.random())), 3)
        if weather["fog"] < 2.6:
            lanes.hour()
    return lanes.miles
