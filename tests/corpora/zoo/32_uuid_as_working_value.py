"""Orders get a ``uuid4``; those with the smallest one are filled first."""

from __future__ import annotations

import uuid


class Book:
    def __init__(self, rng) -> None:
        self.rng = rng
        self.orders: list[tuple[str, int]] = []
        self.filled = 0
        self.volume = 0

    def submit(self, size: int) -> None:
        name = uuid.uuid4().hex[:8]  # ZOO: guilty
        self.orders.append((name, size))

    def fill(self) -> None:
        for name, size in sorted(self.orders)[:2]:
            self.orders.remove((name, size))
            self.filled += 1
            self.volume += size

    def state(self) -> dict:
        return {"orders": self.orders, "filled": self.filled, "volume": self.volume}

    def restore(self, state: dict) -> None:
        self.orders, self.filled = state["orders"], state["filled"]
        self.volume = state["volume"]


def main(run) -> None:
    book = run.track("book", Book(run.python("clients")))
    for tick in run.ticks(15):
        for _ in range(3 if tick >= 2 else 0):
            book.submit(book.rng.randrange(1, 50))
        book.fill()
