"""Sorted sets feed the state, which is right; a clock comes in later, which is not."""

from __future__ import annotations

import time


class Library:
    def __init__(self, rng) -> None:
        self.rng = rng
        self.members = {f"reader {number}" for number in range(15)}
        self.loans: dict[str, int] = {}
        self.fines = 0

    def lend(self, tick: int) -> None:
        for name in sorted(self.members):  # ZOO: innocent
            if name not in self.loans and self.rng.random() < 0.2:
                self.loans[name] = tick

    def return_books(self, tick: int) -> None:
        for name in sorted(name for name in self.loans if tick - self.loans[name] > 3):
            del self.loans[name]
            if tick >= 9:
                self.fines += int(time.time()) % 9  # ZOO: guilty

    def state(self) -> dict:
        return {"loans": self.loans, "fines": self.fines, "members": sorted(self.members)}


def main(run) -> None:
    library = run.track("library", Library(run.python("readers")))
    for tick in run.ticks(16):
        library.lend(tick)
        library.return_books(tick)
