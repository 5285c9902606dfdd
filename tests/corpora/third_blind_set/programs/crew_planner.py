"""Maintenance of a wind farm: the tour of the crew boat is planned overnight, and sailed some days later."""

import math
import random
import time


class Clock:
    """How long the steps take, for the operators' panel."""

    def __init__(self):
        self.spans = {}

    def measure(self, name, action, *arguments):
        begin = time.perf_counter()
        value = action(*arguments)
        self.spans.setdefault(name, []).append(time.perf_counter() - begin)
        return value


class Planner:
    """Shortens a tour by turning pieces of it around, as long as the night lasts."""

    def __init__(self, sites, patience=0.04):
        self.sites, self.patience = sites, patience
        self.dice = random.Random(2024)

    def length(self, tour):
        stops = [(0.0, 0.0), *(self.sites[number] for number in tour), (0.0, 0.0)]
        return sum(math.dist(a, b) for a, b in zip(stops, stops[1:]))

    def improve(self, tour):
        best, cost = list(tour), self.length(tour)
        limit = time.monotonic() + self.patience
        while time.monotonic() < limit:
            i, j = sorted(self.dice.sample(range(len(best)), 2))
            other = best[:i] + best[i:j + 1][::-1] + best[j + 1:]
            length = self.length(other)
            if length < cost:
                best, cost = other, length
        return best


class Farm:
    def __init__(self, sea, wear, turbines=90):
        self.sea, self.wear = sea, wear
        self.sites = [(float(x), float(y)) for x, y in sea.uniform(-10, 10, (turbines, 2))]
        self.planner = Planner(self.sites)
        self.clock = Clock()
        self.orders = list(range(turbines))
        self.plan = []
        self.health = [1.0] * turbines
        self.mended = []
        self.sailed = 0.0
        self.place = (0.0, 0.0)
        self.wind = 8.0
        self.expected = 0.0

    def night(self):
        self.plan = self.clock.measure("plan", self.planner.improve, self.orders)

    def day(self, tick):
        self.wind = max(0.0, 0.7 * self.wind + 2.4 + float(self.sea.normal()))
        for number in range(len(self.health)):
            self.health[number] -= 0.004 * float(self.wear.random())
        if tick == 15:
            self.expected = self.clock.measure("book", self.planner.length, self.plan)
        if tick >= 15 and self.wind < 14:
            self.clock.measure("sail", self.sail, 4)

    def sail(self, stops):
        while self.plan and stops:
            number = self.plan.pop(0)
            self.sailed += math.dist(self.place, self.sites[number])
            self.place = self.sites[number]
            self.health[number] = 1.0
            self.mended.append(number)
            stops -= 1

    def state(self):
        return {"health": list(self.health), "mended": list(self.mended), "sailed": self.sailed,
                "place": list(self.place), "wind": self.wind, "expected": self.expected}

    def restore(self, state):
        self.health, self.mended = list(state["health"]), list(state["mended"])
        self.sailed, self.place, self.wind = state["sailed"], tuple(state["place"]), state["wind"]
        self.expected = state["expected"]


def main(run):
    farm = run.track("farm", Farm(run.rng("sea"), run.rng("wear")))
    for tick in run.ticks(26):
        if tick == 5:
            farm.night()
        farm.day(tick)
