"""A fleet kept in a set of plain objects: they leave the harbour in the order of their addresses.

``ZOO_HEAP`` stands for what the process did before: it decides where the ships come to lie. Ships
are chosen by the low bits of their addresses, so one value gives one order on every machine.
"""

from __future__ import annotations

import os
import random


class Ship:
    __slots__ = ("crew", "cargo", "fuel", "left_at", "name")  # 80 bytes: any low bits of an address

    def __init__(self) -> None:
        self.name = ""
        self.crew, self.cargo = 12, 0
        self.fuel = 0.0
        self.left_at = -1


def moored(count: int) -> list[Ship]:
    """That many ships; where each of them lies in memory depends on the heap's history."""
    history = os.environ.get("ZOO_HEAP", "0")
    room = [Ship() for _ in range(600)]
    berths = {id(ship) >> 4 & 31: ship for ship in room}
    places = random.Random(f"heap {history}").sample(range(32), count)
    return [berths[place] for place in places]


class Harbour:
    def __init__(self, rng) -> None:
        self.rng = rng
        self.ships = moored(8)
        for number, ship in enumerate(self.ships):
            ship.name = f"ship-{number}"
            ship.fuel = 10.0 + number
        self.waiting: set[Ship] = set()
        self.log: list[str] = []

    def arrive(self) -> None:
        self.waiting = {ship for ship in self.ships if ship.fuel > 3.0}

    def leave(self, tick: int) -> None:
        order = [ship.name for ship in self.waiting]  # ZOO: guilty
        self.log = (self.log + order)[-12:]
        for ship in self.ships:
            ship.fuel -= float(self.rng.uniform(0.1, 0.3))
            ship.left_at = tick

    def state(self) -> dict:
        fuel = {ship.name: ship.fuel for ship in self.ships}
        return {"fuel": fuel, "left_at": [ship.left_at for ship in self.ships], "log": self.log}


def main(run) -> None:
    harbour = run.track("harbour", Harbour(run.rng("sea")))
    for tick in run.ticks(12):
        if tick >= 4:
            harbour.arrive()
            harbour.leave(tick)
