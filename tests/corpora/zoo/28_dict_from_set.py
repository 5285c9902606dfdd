"""A shop opens with a dictionary made from a set: its insertion order is the set's."""

from __future__ import annotations


class Shop:
    def __init__(self, rng) -> None:
        self.rng = rng
        self.stock: dict[str, int] = {}
        self.sold = 0

    def open(self, offers: set[str]) -> None:
        self.stock = {name: 5 + len(name) for name in offers}  # ZOO: guilty

    def sell(self) -> None:
        if not self.stock:
            return
        for name in self.stock:
            self.stock[name] += self.rng.randrange(-3, 4)
        self.sold += 1

    def state(self) -> dict:
        return {"stock": self.stock, "sold": self.sold}

    def restore(self, state: dict) -> None:
        self.stock, self.sold = state["stock"], state["sold"]


def main(run) -> None:
    shop = run.track("shop", Shop(run.python("customers")))
    fruit = {"apple", "pear", "plum", "quince", "grape", "fig", "lemon", "melon"}
    for tick in run.ticks(15):
        if tick == 5:
            shop.open(fruit - {"fig"})
        shop.sell()
