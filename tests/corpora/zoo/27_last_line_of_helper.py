"""A cellular automaton; a helper changes the grid in place on its very last line."""

from __future__ import annotations

import os

import numpy as np


def neighbours(cells: np.ndarray) -> np.ndarray:
    total = np.zeros_like(cells)
    for dx in (-1, 0, 1):
        for dy in (-1, 0, 1):
            if dx or dy:
                total += np.roll(np.roll(cells, dx, axis=0), dy, axis=1)
    return total


def irradiate(cells: np.ndarray, row: int) -> None:
    """Flip some cells of a row."""
    width = cells.shape[1]
    middle = width // 2
    cells[row, middle - 1 :] ^= np.int64(os.environ.get("ZOO_BEAM", "0"))  # ZOO: guilty


class Automaton:
    def __init__(self, rng: np.random.Generator) -> None:
        self.cells = rng.integers(0, 2, (12, 12))
        self.generation = 0

    def step(self) -> None:
        count = neighbours(self.cells)
        alive = (count == 3) | ((self.cells == 1) & (count == 2))
        self.cells = alive.astype(np.int64)
        self.generation += 1

    def state(self) -> dict:
        return {"cells": self.cells, "generation": self.generation}

    def restore(self, state: dict) -> None:
        self.cells, self.generation = state["cells"], state["generation"]


def main(run) -> None:
    automaton = run.track("automaton", Automaton(run.rng("soup")))
    for tick in run.ticks(16):
        automaton.step()
        if tick == 7:
            irradiate(automaton.cells, 4)
        automaton.step()
