"""Prices are set in the order of a set of names."""

from __future__ import annotations

NAMES = ("ada", "ben", "cem", "dita", "eva", "fay")


class Market:
    def __init__(self, rng) -> None:
        self.rng, self.prices = rng, {}

    def step(self) -> None:
        for name in set(NAMES):  # guilty
            self.prices[name] = self.prices.get(name, 10.0) + self.rng.normal()

    def state(self) -> dict:
        return {"prices": self.prices}


def main(run) -> None:
    market = run.track("market", Market(run.rng("market")))
    for _ in run.ticks(8):
        market.step()
