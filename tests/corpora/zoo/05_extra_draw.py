"""An inventory; a diagnostic flag draws a sample that nobody keeps."""

from __future__ import annotations

import os


class Warehouse:
    def __init__(self, rng) -> None:
        self.rng = rng
        self.stock = {f"part-{i}": 40 for i in range(10)}
        self.backlog = 0

    def audit(self) -> None:
        if os.environ.get("ZOO_AUDIT") == "1":
            self.rng.choice(list(self.stock))  # ZOO: guilty

    def sell(self) -> None:
        for part in self.stock:
            wanted = self.rng.randrange(0, 6)
            sold = min(wanted, self.stock[part])
            self.backlog += wanted - sold
            self.stock[part] -= sold

    def reorder(self) -> None:
        for part, count in self.stock.items():
            if count < 12:
                self.stock[part] = count + 30

    def state(self) -> dict:
        return {"stock": self.stock, "backlog": self.backlog}

    def restore(self, state: dict) -> None:
        self.stock, self.backlog = state["stock"], state["backlog"]


def main(run) -> None:
    warehouse = run.track("warehouse", Warehouse(run.python("demand")))
    for tick in run.ticks(20):
        warehouse.sell()
        warehouse.reorder()
        if tick == 9:
            warehouse.audit()
