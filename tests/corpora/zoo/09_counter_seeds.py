"""Agents that seed themselves from a class-level counter; a preview agent uses up one number."""

from __future__ import annotations

import os
import random


class Forager:
    made = 0

    def __init__(self) -> None:
        Forager.made += 1  # ZOO: guilty
        self.rng = random.Random(7_000 + Forager.made)
        self.place = 0
        self.food = 0

    def step(self) -> None:
        self.place += self.rng.choice((-1, 1))
        self.food += self.rng.random() < 0.3


class Colony:
    def __init__(self) -> None:
        self.foragers = [Forager() for _ in range(4)]

    def preview(self) -> None:
        if os.environ.get("ZOO_PREVIEW") == "1":
            Forager().step()  # ZOO: also

    def grow(self) -> None:
        self.foragers.append(Forager())

    def step(self) -> None:
        for forager in self.foragers:
            forager.step()

    def state(self) -> dict:
        return {
            "places": [forager.place for forager in self.foragers],
            "food": [forager.food for forager in self.foragers],
        }


def main(run) -> None:
    colony = run.track("colony", Colony())
    for tick in run.ticks(16):
        if tick == 4:
            colony.preview()
        if tick % 4 == 3:
            colony.grow()
        colony.step()
