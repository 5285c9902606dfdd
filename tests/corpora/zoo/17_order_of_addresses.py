"""A physics step resolves contacts in the order of ``id()``: "any order will do".

``ZOO_HEAP`` stands for what the process did before: it decides where the bodies come to lie.
"""

from __future__ import annotations

import os
import random


class Body:
    def __init__(self) -> None:
        self.x = 0.0
        self.v = 0.0


def placed(count: int) -> list[Body]:
    """That many bodies, of which some lie higher in memory than others by the heap's history."""
    history = os.environ.get("ZOO_HEAP", "0")
    room = sorted((Body() for _ in range(count)), key=id)
    random.Random(f"heap {history}").shuffle(room)
    return room


class World:
    def __init__(self, rng) -> None:
        self.bodies = placed(7)
        for body in self.bodies:
            body.x, body.v = float(rng.uniform(0, 1)), float(rng.uniform(-1, 1))

    def move(self) -> None:
        for body in self.bodies:
            body.x += 0.01 * body.v

    def collide(self) -> None:
        ordered = sorted(self.bodies, key=id)  # ZOO: guilty
        for one, two in zip(ordered, ordered[1:]):
            push = 0.01 * (two.x - one.x)
            one.v, two.v = one.v + push, two.v - 0.5 * push

    def state(self) -> dict:
        return {"x": [body.x for body in self.bodies], "v": [body.v for body in self.bodies]}


def main(run) -> None:
    world = run.track("world", World(run.rng("world")))
    for tick in run.ticks(14):
        world.move()
        if tick >= 5:
            world.collide()
