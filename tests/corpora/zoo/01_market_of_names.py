"""A market whose traders are kept in a set of names: orders queue in the set's order."""

from __future__ import annotations


class Market:
    def __init__(self, rng) -> None:
        self.rng = rng
        self.price = 100.0
        self.cash = {f"trader-{i:02d}": 500.0 + 10.0 * i for i in range(12)}
        self.active: set[str] = set()
        self.queue: list[str] = []

    def join(self, tick: int) -> None:
        names = sorted(self.cash)
        self.active = set(names[: 2 + tick])

    def collect(self) -> None:
        queue = []
        for name in self.active:  # ZOO: guilty
            if self.cash[name] >= self.price:
                queue.append(name)
        self.queue = queue

    def match(self) -> None:
        for place, name in enumerate(self.queue):
            paid = self.price * (1.0 + 0.001 * place)
            self.cash[name] = round(self.cash[name] - 0.01 * paid, 6)
        self.price += float(self.rng.normal(0.0, 0.5)) + 0.01 * len(self.queue)

    def state(self) -> dict:
        return {"price": self.price, "cash": self.cash, "queue": self.queue}

    def restore(self, state: dict) -> None:
        self.price, self.cash, self.queue = state["price"], state["cash"], state["queue"]


def main(run) -> None:
    market = run.track("market", Market(run.rng("market")))
    for tick in run.ticks(14):
        market.join(tick)
        market.collect()
        market.match()
