"""Regatta umpire: timed callbacks on a virtual clock start gusts and flags; a late gust shifts the fleet."""
import heapq
import itertools
import time
from functools import partial


class Clock:
    """A virtual clock with callbacks, as in any event simulator."""

    _serial = itertools.count()

    def __init__(self):
        self.now = 0
        self._due = []

    def after(self, delay, action):
        heapq.heappush(self._due, (self.now + delay, next(self._serial), action))

    def advance(self):
        self.now += 1
        fired = 0
        while self._due and self._due[0][0] <= self.now:
            _, _, action = heapq.heappop(self._due)
            action()
            fired += 1
        return fired


class Fleet:
    def __init__(self, names, rng):
        self._rng = rng
        self.offset = {name: 0.0 for name in names}
        self.flag = "postponed"
        self.wind = 8.0

    def state(self):
        return {
            "offset": {k: round(v, 6) for k, v in self.offset.items()},
            "flag": self.flag,
            "wind": round(self.wind, 6),
        }

    def restore(self, state):
        self.offset.update(state["offset"])
        self.flag, self.wind = state["flag"], state["wind"]

    def sail(self):
        if self.flag != "racing":
            return
        for name in self.offset:
            self.offset[name] += self.wind * (0.8 + 0.4 * float(self._rng.random()))


def hoist(fleet, flag):
    fleet.flag = flag


def gust(fleet, strength):
    fleet.wind = fleet.wind * 0.7 + strength


def plan_gusts(clock, fleet, rng, first, salt=time.time_ns() % 1_000_003):
    """Book the gusts of the afternoon; the salt keeps crews from guessing them."""
    at = first
    for k in range(6):
        strength = 2.0 + 3.0 * float(rng.random())
        if k >= 2:
            strength += (salt * (k + 1)) % 1009 / 500.0 + salt / 1e7
        clock.after(at, partial(gust, fleet, strength))
        at += 4


def main(run):
    clock = Clock()
    fleet = run.track("fleet", Fleet(["Alder", "Bittern", "Curlew", "Dunlin"], run.rng("helm")))
    clock.after(2, partial(hoist, fleet, "warning"))
    clock.after(4, partial(hoist, fleet, "racing"))
    plan_gusts(clock, fleet, run.rng("sky"), 3)
    fired = 0
    for _tick in run.ticks(26):
        fired += clock.advance()
        fleet.sail()
    clock.after(1, partial(hoist, fleet, "finished"))
    return {"fired": fired, "flag": fleet.flag}
