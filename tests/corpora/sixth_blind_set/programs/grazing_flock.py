"""Grazing model: sheep walk a torus of grass patches, built on mesa."""
import os

import mesa
from mesa.discrete_space import CellAgent, OrthogonalMooreGrid

SIZE = 8


class Sheep(CellAgent):
    def __init__(self, model, cell, appetite):
        super().__init__(model)
        self.cell = cell
        self.appetite = appetite
        self.eaten = 0

    def rest(self):
        self.eaten += 0

    def graze(self):
        self.cell = self.cell.neighborhood.select_random_cell()
        bite = min(self.appetite, self.model.grass[self.cell.coordinate])
        self.model.grass[self.cell.coordinate] -= bite
        self.eaten += bite


class Pasture(mesa.Model):
    def __init__(self, flock, appetites):
        super().__init__(seed=os.getpid())
        self.grid = OrthogonalMooreGrid((SIZE, SIZE), torus=True, capacity=None, random=self.random)
        self.grass = {cell.coordinate: 9 for cell in self.grid.all_cells}
        cells = sorted(self.grid.all_cells, key=lambda c: c.coordinate)
        for i in range(flock):
            Sheep(self, cells[(i * 13) % len(cells)], appetites[i])
        self.winter = True

    def step(self):
        if self.winter:
            self.agents.do("rest")
            return
        self.agents.shuffle_do("graze")
        for where in self.grass:
            self.grass[where] = min(9, self.grass[where] + 1)


class Warden:
    def __init__(self, model):
        self.model = model
        self.hay = 300

    def open_gate(self, tick):
        if tick >= 9:
            self.model.winter = False
        else:
            self.hay -= len(self.model.agents)

    def state(self):
        rows = [sum(self.model.grass[x, y] for y in range(SIZE)) for x in range(SIZE)]
        return {"hay": self.hay, "rows": rows, "eaten": sum(s.eaten for s in self.model.agents)}

    def restore(self, state):
        self.hay = state["hay"]


def main(run):
    rng = run.rng("flock")
    model = Pasture(14, [int(a) for a in rng.integers(1, 4, size=14)])
    warden = run.track("warden", Warden(model))
    for tick in run.ticks(18):
        warden.open_gate(tick)
        model.step()
    return warden.hay
