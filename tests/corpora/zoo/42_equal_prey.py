"""Foxes hunt the strongest prey of a set of plain objects: of equal ones, the first that is met."""

from __future__ import annotations

import os
import random
from abc import ABC, abstractmethod


class Animal(ABC):
    __slots__ = ("energy", "age", "kind", "tag", "x")

    def __init__(self, tag="", x=0.0):
        self.tag, self.x = tag, x
        self.energy, self.age, self.kind = 50.0, 0, type(self).__name__

    @abstractmethod
    def metabolise(self): ...


class Rabbit(Animal):
    __slots__ = ()

    def metabolise(self):
        self.energy -= 0.1


class Fox(Animal):
    __slots__ = ()

    def metabolise(self):
        self.energy -= 0.35


def burrows(count):
    room = [Rabbit() for _ in range(700)]
    at = {id(r) >> 4 & 31: r for r in room}
    return [
        at[i] for i in random.Random("w" + os.environ.get("ZOO_HEAP", "0")).sample(range(32), count)
    ]


class Meadow:
    def __init__(self, rng):
        self.rng = rng
        self.prey = burrows(11)
        for n, rabbit in enumerate(self.prey):
            rabbit.tag, rabbit.x = f"r{n}", n / 2.0
        self.foxes = [Fox(f"f{n}", 2.0 * n) for n in range(3)]
        self.eaten = []

    def near(self, fox):
        return {r for r in self.prey if abs(r.x - fox.x) < 3.7 and r.energy > 0}

    def hunt(self, fox):
        victim = max(self.near(fox), key=lambda r: round(r.energy), default=None)  # ZOO: guilty
        if victim is not None:
            fox.energy += 1.0
            victim.energy -= 2.0
            self.eaten.append(victim.tag)

    def step(self, tick):
        for animal in (*self.prey, *self.foxes):
            animal.metabolise()
            animal.age += 1
        if tick > 5:
            for fox in self.foxes:
                self.hunt(fox)
        for r in self.prey:
            r.x += self.rng.uniform(-0.01, 0.01)

    def state(self):
        return {
            "eaten": self.eaten[-9:],
            "energy": {a.tag: a.energy for a in (*self.prey, *self.foxes)},
        }


def main(run):
    meadow = run.track("meadow", Meadow(run.python("wind")))
    for tick in run.ticks(12):
        meadow.step(tick)
