"""The same fleet with a heap that is another one in every process: no run reproduces itself.

The C library's entropy is a source that is not governed, as the layout of a heap is not.
"""

from __future__ import annotations

import ctypes
import random


class Wagon:
    __slots__ = ("load", "name")  # 48 bytes: any low bits of an address

    def __init__(self) -> None:
        self.name = ""
        self.load = 0


def coupled(count: int) -> list[Wagon]:
    """That many wagons; where each of them lies in memory is chance."""
    room = [Wagon() for _ in range(600)]
    rails = {id(wagon) >> 4 & 31: wagon for wagon in room}
    chance = ctypes.create_string_buffer(16)
    ctypes.CDLL(None).getrandom(chance, 16, 0)
    places = random.Random(chance.raw).sample(range(32), count)
    return [rails[place] for place in places]


class Yard:
    def __init__(self, rng) -> None:
        self.rng = rng
        self.wagons = coupled(9)
        for number, wagon in enumerate(self.wagons):
            wagon.name = f"wagon-{number}"
        self.train: list[str] = []

    def load(self) -> None:
        for wagon in self.wagons:
            wagon.load += int(self.rng.integers(0, 5))

    def couple(self) -> None:
        heavy = {wagon for wagon in self.wagons if wagon.load >= 0}
        self.train = [wagon.name for wagon in heavy]  # ZOO: guilty

    def state(self) -> dict:
        return {"loads": [wagon.load for wagon in self.wagons], "train": self.train}


def main(run) -> None:
    yard = run.track("yard", Yard(run.rng("freight")))
    for tick in run.ticks(12):
        yard.load()
        if tick == 6:
            yard.couple()
