"""A game of life on a small torus, sown at random: whoever plays with it wants a pattern back.

twice record life.py:main --seed 5 --set side=12 --set steps=20 -o a.twice
twice verify a.twice
"""

from __future__ import annotations

from typing import Any

import numpy as np

import twice


class Field:
    """Cells that live or do not, each with eight neighbours."""

    def __init__(self, side: int, rng: np.random.Generator) -> None:
        self.side = side
        self.cells = [[int(rng.integers(2)) for _ in range(side)] for _ in range(side)]

    def step(self) -> None:
        self.cells = [
            [self._next(row, column) for column in range(self.side)] for row in range(self.side)
        ]

    def _next(self, row: int, column: int) -> int:
        around = sum(
            self.cells[(row + down) % self.side][(column + right) % self.side]
            for down in (-1, 0, 1)
            for right in (-1, 0, 1)
            if down or right
        )
        return int(around == 3 or (around == 2 and self.cells[row][column]))

    def state(self) -> dict[str, Any]:
        return {"cells": self.cells}

    def restore(self, state: dict[str, Any]) -> None:
        self.cells = state["cells"]


def main(run: twice.Run) -> None:
    field = run.track("field", Field(run.config["side"], run.rng("field")))
    for _ in run.ticks(run.config["steps"]):
        field.step()
    run.compare("alive", sum(map(sum, field.cells)))
