"""Soup kitchen: ingredients are weighed out by nested generators, a long buffer sits between larder and pot."""
import os
from collections import deque

BASE = [("onion", 180.0), ("carrot", 140.0), ("leek", 120.0), ("barley", 220.0), ("thyme", 4.0)]
EXTRA = [("parsley", 6.0), ("chilli", 2.0)]


def seasonal(items):
    """The house list, with the garnish where the house wants it."""
    yield from items
    if os.environ.get("KITCHEN_GARNISH", "off") == "on":
        yield from EXTRA


def weighed(rng, items):
    """Each item weighed with the usual error of the scales."""
    for name, grams in items:
        yield name, round(grams * (1.0 + float(rng.normal(0.0, 0.03))), 3)


def larder(rng):
    """An endless stream of portions, round by round."""
    round_number = 0
    while True:
        for name, grams in weighed(rng, seasonal(BASE)):
            yield round_number, name, grams
        round_number += 1


class Buffer:
    """A counter where the porter puts portions and the cook takes them, oldest first."""

    def __init__(self, stream, depth):
        self._stream, self._depth = stream, depth
        self._shelf = deque()

    def fill(self):
        while len(self._shelf) < self._depth:
            self._shelf.append(next(self._stream))

    def take(self):
        return self._shelf.popleft()


class Pot:
    def __init__(self):
        self.litres = 2.0
        self.solids = 0.0
        self.heat = 20.0
        self.taste = 0.0
        self.history = []

    def state(self):
        return {
            "litres": round(self.litres, 4),
            "solids": round(self.solids, 4),
            "heat": round(self.heat, 4),
            "taste": round(self.taste, 6),
            "history": self.history[-3:],
        }

    def restore(self, state):
        for key in ("litres", "solids", "heat", "taste"):
            setattr(self, key, state[key])
        self.history = list(state["history"])

    def add(self, name, grams):
        strength = {"thyme": 6.0, "chilli": 9.0, "parsley": 3.0}.get(name, 0.02)
        self.solids += grams
        self.taste += grams * strength / 1000.0
        self.history.append(name)

    def simmer(self):
        self.heat += (95.0 - self.heat) * 0.2
        self.litres *= 0.995


def main(run):
    counter = Buffer(larder(run.rng("scales")), 18)
    pot = run.track("pot", Pot())
    for tick in run.ticks(32):
        counter.fill()
        if tick >= 4:
            pot.add(*counter.take()[1:])
        pot.simmer()
    run.compare("solids", round(pot.solids, 2))
    return round(pot.taste, 4)
