"""A service that takes orders: it asks the clock, makes ids, looks up exchange rates and keeps a ledger.

twice record orders.py:main --seed 5 --set requests=12 -o a.twice
twice verify a.twice --restores
"""

from __future__ import annotations

import json
import uuid
from pathlib import Path
from typing import Any

import numpy as np

import twice

RATES = Path(__file__).parent / "rates.json"
GOODS = {"bolt": 120, "gear": 950, "spring": 310}


class Ledger:
    """Orders that were taken, in whole cents."""

    def __init__(self) -> None:
        self.orders: list[dict[str, Any]] = []
        self.total = 0

    def take(self, order: dict[str, Any]) -> None:
        self.orders.append(order)
        self.total += order["cents"]

    def state(self) -> dict[str, Any]:
        return {"orders": self.orders, "total": self.total}

    def restore(self, state: dict[str, Any]) -> None:
        self.orders, self.total = state["orders"], state["total"]


class Customers:
    """Who asks for what: the service's own test traffic."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng
        self.asked = 0

    def ask(self) -> dict[str, Any]:
        self.asked += 1
        goods = sorted(GOODS)
        return {
            "goods": goods[int(self.rng.integers(len(goods)))],
            "count": int(self.rng.integers(1, 5)),
            "currency": ("EUR", "USD")[int(self.rng.integers(2))],
        }

    def state(self) -> dict[str, Any]:
        return {"asked": self.asked}

    def restore(self, state: dict[str, Any]) -> None:
        self.asked = state["asked"]


def answer(request: dict[str, Any], world: Any) -> dict[str, Any]:
    """Make an order of a request, at the exchange rate that the bank's file says now.

    Args:
        request: goods, count and currency.
        world: where the clock and ids come from: ``run.effects``.
    """
    rates = json.loads(RATES.read_text("utf-8"))
    cents = GOODS[request["goods"]] * request["count"] * rates[request["currency"]] // 10_000
    name = uuid.UUID(bytes=world.entropy.bytes(16), version=4)
    return {**request, "id": str(name), "at": int(world.clock.time()), "cents": cents}


def main(run: twice.Run) -> None:
    ledger = run.track("ledger", Ledger())
    customers = run.track("customers", Customers(run.rng("customers")))
    for _ in run.ticks(run.config["requests"]):
        request = run.input("request", customers.ask)
        ledger.take(answer(request, run.effects))
        run.compare("total", ledger.total)
