"""Agents that trade on an order book, in whole cents: many agents, one stream each, any machine the same.

twice record market.py:main --seed 11 --set agents=8 --set rounds=20 -o a.twice
twice verify a.twice --restores
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

import twice

NEWS = Path(__file__).parent / "news.json"


class Trader:
    """Bids around what it believes, and believes a little of what it sees."""

    def __init__(self, cash: int, rng: np.random.Generator) -> None:
        self.rng = rng
        self.cash = cash
        self.shares = 10
        self.belief = 10_000 + int(rng.integers(-500, 501))

    def order(self) -> tuple[str, int]:
        """Give a side and a price in cents."""
        price = self.belief + int(self.rng.integers(-50, 51))
        wants = self.cash >= price and (self.shares == 0 or bool(self.rng.integers(2)))
        return ("buy", price) if wants else ("sell", price)

    def see(self, price: int, news: int) -> None:
        self.belief += (price - self.belief) // 8 + news

    def state(self) -> dict[str, Any]:
        return {"cash": self.cash, "shares": self.shares, "belief": self.belief}

    def restore(self, state: dict[str, Any]) -> None:
        self.cash, self.shares, self.belief = state["cash"], state["shares"], state["belief"]


class Book:
    """Open orders, oldest first at one price, and the last price that was paid."""

    def __init__(self) -> None:
        self.bids: list[tuple[int, int]] = []
        self.asks: list[tuple[int, int]] = []
        self.price = 10_000
        self.volume = 0

    def match(self, traders: list[Trader]) -> None:
        """Let the best bid meet the best ask as long as they cross."""
        self.bids.sort(key=lambda order: (-order[0], order[1]))
        self.asks.sort()
        while self.bids and self.asks and self.bids[0][0] >= self.asks[0][0]:
            (bid, buyer), (ask, seller) = self.bids.pop(0), self.asks.pop(0)
            price = (bid + ask) // 2
            if traders[buyer].cash < price or traders[seller].shares < 1:
                continue
            traders[buyer].cash -= price
            traders[seller].cash += price
            traders[buyer].shares += 1
            traders[seller].shares -= 1
            self.price = price
            self.volume += 1

    def state(self) -> dict[str, Any]:
        return {"bids": self.bids, "asks": self.asks, "price": self.price, "volume": self.volume}

    def restore(self, state: dict[str, Any]) -> None:
        self.bids, self.asks = state["bids"], state["asks"]
        self.price, self.volume = state["price"], state["volume"]


def main(run: twice.Run) -> None:
    news = json.loads(NEWS.read_text("utf-8"))
    traders = [
        run.track(f"traders/{at}", Trader(200_000, run.rng(f"traders/{at}")))
        for at in range(run.config["agents"])
    ]
    book = run.track("book", Book())
    for tick in run.ticks(run.config["rounds"]):
        shock = run.input("news", lambda tick=tick: news[tick % len(news)])
        for at, trader in enumerate(traders):
            side, price = trader.order()
            (book.bids if side == "buy" else book.asks).append((price, at))
        run.phase("ordered")
        book.match(traders)
        for trader in traders:
            trader.see(book.price, shock)
        run.compare("price", book.price)
