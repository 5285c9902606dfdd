"""A clearing house: banks owe each other whole cents, and each round settles what nets out.

What it decided is owed to the banks by contract, on whatever machine they replay it.

twice record clearing.py:main --seed 3 --set banks=4 --set rounds=10 -o a.twice
twice verify a.twice --restores
"""

from __future__ import annotations

from typing import Any

import numpy as np

import twice


class Bank:
    """Has an account, and makes payments of its own."""

    def __init__(self, place: int, banks: int, rng: np.random.Generator) -> None:
        self.place = place
        self.others = [each for each in range(banks) if each != place]
        self.rng = rng
        self.account = 100_000

    def pays(self) -> tuple[int, int]:
        """Give whom it pays, and how many cents."""
        other = self.others[int(self.rng.integers(len(self.others)))]
        return other, int(self.rng.integers(1, 5_000))

    def state(self) -> dict[str, Any]:
        return {"account": self.account}

    def restore(self, state: dict[str, Any]) -> None:
        self.account = state["account"]


class House:
    """Keeps what is owed, oldest first, and settles what the accounts allow."""

    def __init__(self) -> None:
        self.owed: list[tuple[int, int, int]] = []
        self.settled = 0

    def settle(self, banks: list[Bank], limit: int) -> None:
        """Settle debts in order; one that would take an account below the limit waits."""
        waiting = []
        for payer, payee, cents in self.owed:
            if banks[payer].account - cents < limit:
                waiting.append((payer, payee, cents))
                continue
            banks[payer].account -= cents
            banks[payee].account += cents
            self.settled += cents
        self.owed = waiting

    def state(self) -> dict[str, Any]:
        return {"owed": self.owed, "settled": self.settled}

    def restore(self, state: dict[str, Any]) -> None:
        self.owed, self.settled = state["owed"], state["settled"]


def main(run: twice.Run) -> None:
    count = run.config["banks"]
    banks = [
        run.track(f"banks/{at}", Bank(at, count, run.rng(f"banks/{at}"))) for at in range(count)
    ]
    house = run.track("house", House())
    for _ in run.ticks(run.config["rounds"]):
        limit = run.input("limit", lambda: 0)
        for bank in banks:
            payee, cents = bank.pays()
            house.owed.append((bank.place, payee, cents))
        run.phase("collected")
        house.settle(banks, limit)
    run.compare("settled", house.settled)
