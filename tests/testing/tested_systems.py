"""Systems that the tests of ``twice.testing`` hold properties against: sound ones, and broken ones."""

from __future__ import annotations

import asyncio
from typing import Any

import numpy as np

import twice


class Shop:
    """A small service: prices come from a call, times from the clock, luck from a stream."""

    def __init__(self, run: twice.Run) -> None:
        self.run = run
        self.rng = run.rng("shop")
        self.takings = 0.0
        self.orders: list[list[Any]] = []

    def serve(self, item: int) -> None:
        price = self.run.effects.call("price", price_of, item)
        at = self.run.effects.clock.time()
        self.takings += price * (1.0 + float(self.rng.random()))
        self.orders.append([f"item-{item}", price, at])

    def state(self) -> dict[str, Any]:
        return {"takings": self.takings, "orders": self.orders}

    def restore(self, state: dict[str, Any]) -> None:
        self.takings, self.orders = state["takings"], state["orders"]


def price_of(item: int) -> float:
    return 0.1 + item / 3.0


def shop(run: twice.Run) -> None:
    counter = run.track("shop", Shop(run))
    for tick in run.ticks(run.config["requests"]):
        item = run.input("item", lambda at=tick: int(counter.rng.integers(5)) + at)
        counter.serve(item)
        print(f"served {item}")


def walker(run: twice.Run) -> None:
    """Move a point by an input and by random numbers."""
    rng, held = run.rng("walker"), run.track("walker", {"at": np.zeros(3)})
    for _ in run.ticks(run.config["ticks"]):
        push = run.input("push", lambda: 0.5)
        held["at"] = held["at"] + push + rng.standard_normal(3)


class Counter:
    """Counts in a place that its state does not show."""

    def __init__(self) -> None:
        self.seen = 0
        self.value = 0

    def step(self) -> None:
        self.seen += 1
        self.value += self.seen

    def state(self) -> dict[str, int]:
        return {"value": self.value}

    def restore(self, state: dict[str, int]) -> None:
        self.value = state["value"]


def hidden(run: twice.Run) -> None:
    counter = run.track("counter", Counter())
    for _ in run.ticks(run.config["ticks"]):
        counter.step()


class Forgetful(Counter):
    """Restores another value than the one it was given."""

    def restore(self, state: dict[str, int]) -> None:
        self.value = state["value"] - 1


def forgetful(run: twice.Run) -> None:
    held = run.track("system", Forgetful())
    for _ in run.ticks(run.config["ticks"]):
        held.value += 1


def set_ordered(run: twice.Run) -> None:
    totals = run.track("totals", {"sum": 0.0})
    for _ in run.ticks(run.config["ticks"]):
        for name in {f"part-{at}" for at in range(run.config["n"])}:
            totals["sum"] = totals["sum"] * 0.5 + float(name.partition("-")[2])


def seeded_from_draws(run: twice.Run) -> None:
    """Seed the second generator with a number that the first one draws."""
    first = run.rng("first")
    second = np.random.default_rng(int(first.integers(2**32)))
    run.streams.adopt("second", second)
    held = run.track("held", {"value": 0.0})
    for _ in run.ticks(run.config["ticks"]):
        held["value"] += float(second.random())


def globally_drawn(run: twice.Run) -> None:
    """Two components share one stream, and one of them draws as often as there are streams."""
    held = run.track("held", {"value": 0.0})
    rng = run.rng("shared")
    for _ in run.ticks(run.config["ticks"]):
        for _ in run.streams.names():
            held["value"] += float(rng.random())


def ordered(run: twice.Run) -> None:
    """Workers commit in the order that they are told; the sum must not depend on it."""
    order = run.config["order"]
    parts = np.asarray([0.1, 1e16, -1e16, 0.7])[: len(order)]
    held = run.track("held", {"sum": 0.0, "last": 0})
    for _ in run.ticks(run.config["ticks"]):
        for worker in order:
            if run.config["sound"]:
                held["sum"] = float(np.sum(np.sort(parts)))
            else:
                held["sum"] += float(parts[worker])


def tasks(run: twice.Run) -> None:
    """Tasks of asyncio append in the order in which they run."""
    held = run.track("held", {"order": []})

    async def work(number: int) -> None:
        await asyncio.sleep(0)
        held["order"].append(number)

    async def all_of_them() -> None:
        await asyncio.gather(*(work(number) for number in range(3)))

    for _ in run.ticks(run.config["ticks"]):
        asyncio.run(all_of_them())
        if run.config["sound"]:
            held["order"].sort()


def still(run: twice.Run) -> None:
    """Nothing in it is a number that moves, has rows or is drawn."""
    run.track("held", {"name": True})
    for _ in run.ticks(run.config["ticks"]):
        pass


def no_tick(run: twice.Run) -> None:
    run.track("held", {"value": run.config["ticks"]})
