"""Checkpoints kept as pickles: equal rosters, but one remembers that two names are one object."""

from __future__ import annotations

import os
import pickle
import sys


def read_name(number: int) -> str:
    """A name as a parser gives it: an object of its own, unless the parser interns."""
    text = "".join(("unit-", str(number % 3)))
    return sys.intern(text) if os.environ.get("ZOO_INTERN") == "1" else text  # ZOO: also


class Roster:
    def __init__(self, rng) -> None:
        self.rng = rng
        self.strength = [10.0] * 6
        self.checkpoint = b""

    def battle(self) -> None:
        for unit in range(len(self.strength)):
            self.strength[unit] -= self.rng.random()

    def save(self) -> None:
        names = [read_name(number) for number in range(6)]
        content = list(zip(names, self.strength, strict=True))
        self.checkpoint = pickle.dumps(content)  # ZOO: guilty

    def state(self) -> dict:
        return {"strength": self.strength, "checkpoint": self.checkpoint}

    def restore(self, state: dict) -> None:
        self.strength, self.checkpoint = state["strength"], state["checkpoint"]


def main(run) -> None:
    roster = run.track("roster", Roster(run.python("dice")))
    for tick in run.ticks(12):
        roster.battle()
        if tick % 5 == 4:
            roster.save()
