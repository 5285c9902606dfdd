"""A mesa model under a run: people trade coins on a grid; a dozen lines make it a component.

twice record examples/mesa_model.py:main --seed 7 --set people=50 --set days=100 -o a.twice
twice verify a.twice --restores
"""

from __future__ import annotations

from typing import Any

import mesa
from mesa.discrete_space import CellAgent, OrthogonalMooreGrid

import twice


class Person(CellAgent):
    def __init__(self, model: Market, cell: Any) -> None:
        super().__init__(model)
        self.cell = cell
        self.wealth = 1

    def trade(self) -> None:
        self.cell = self.cell.neighborhood.select_random_cell()
        others = [agent for agent in self.cell.agents if agent is not self]
        if self.wealth > 0 and others:
            self.random.choice(others).wealth += 1
            self.wealth -= 1


class Market(mesa.Model):
    """Nobody steps it by `step`: around that, mesa keeps a schedule, which would be state too."""

    def __init__(self, run: twice.Run, people: int, side: int = 10) -> None:
        # mesa draws from two generators: it takes the run's, and seeds its own from that one.
        super().__init__(rng=run.rng("market"))
        run.streams.adopt("market/python", self.random)
        self.grid = OrthogonalMooreGrid((side, side), torus=True, random=self.random)
        for _ in range(people):
            Person(self, self.grid[tuple(self.rng.integers(0, side, size=2).tolist())])

    def day(self) -> None:
        self.agents.shuffle_do("trade")

    def state(self) -> dict[str, Any]:
        """Agents in mesa's order, because that is the order in which they are shuffled."""
        return {
            "people": [(p.unique_id, p.cell.coordinate, p.wealth) for p in self.agents],
            "cells": [[p.unique_id for p in cell.agents] for cell in self.grid],
        }

    def restore(self, state: dict[str, Any]) -> None:
        people = {person.unique_id: person for person in self.agents}
        for number, coordinate, wealth in state["people"]:
            people[number].cell = self.grid[coordinate]
            people[number].wealth = wealth
        for cell, numbers in zip(self.grid, state["cells"], strict=True):
            for number in numbers:  # The order in which they arrived decides whom `choice` picks.
                cell.remove_agent(people[number])
                cell.add_agent(people[number])


def main(run: twice.Run) -> None:
    market = run.track("market", Market(run, run.config["people"]))
    for _ in run.ticks(run.config["days"]):
        market.day()
        run.compare("wealth", sorted(person.wealth for person in market.agents))
