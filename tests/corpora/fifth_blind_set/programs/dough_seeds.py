"""Doughs prove overnight; each recipe has its own little generator of temperature drift, opened at bake time."""
import random


class Dough:
    def __init__(self, recipe, flour):
        self.recipe = recipe
        self.flour = flour
        self.rise = 1.0
        self.drift = None

    def prove(self, warmth):
        self.rise += 0.02 * warmth
        if self.drift is not None:
            self.rise += next(self.drift)


def drifting(recipe):
    rng = random.Random(f"{recipe}:{hash(recipe) % 1000}")
    level = 0.0
    while True:
        level = 0.8 * level + rng.uniform(-0.01, 0.01)
        yield level


def chain(recipe):
    yield 0.0
    yield 0.0
    yield from drifting(recipe)


class Bakery:
    def __init__(self, doughs):
        self.doughs = doughs
        self.hours = 0

    def state(self):
        return {"rise": {d.recipe: d.rise for d in self.doughs}, "hours": self.hours}

    def restore(self, state):
        for dough in self.doughs:
            dough.rise = state["rise"][dough.recipe]
        self.hours = state["hours"]


def main(run):
    rng = run.rng("warmth")
    bakery = run.track("bakery", Bakery([Dough("focaccia", 900), Dough("brioche", 700), Dough("pumpernickel", 1200)]))
    for tick in run.ticks(18):
        bakery.hours += 1
        warmth = float(rng.uniform(0.5, 1.5))
        for dough in bakery.doughs:
            if tick == 5 and dough.flour > 800:
                dough.drift = chain(dough.recipe)
            dough.prove(warmth)
    return bakery.hours
