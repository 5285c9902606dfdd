"""Drops of voltage in the grid of a village: lines are cut and mended, and the network is solved anew."""

import numpy as np

HOUSES = 60


class Grid:
    def __init__(self, layout):
        self.lines = {}
        for house in range(1, HOUSES):
            self.lines[(int(layout.integers(0, house)), house)] = 1 / (0.11 + 0.07 * (house % 5))
        for _ in range(30):
            first, second = sorted(int(end) for end in layout.choice(HOUSES, 2, replace=False))
            self.lines.setdefault((first, second), 1 / 0.37)
        self.cut = []
        self.drop = np.zeros(HOUSES)
        self.losses = 0.0
        self.alarms = 0

    def admittance(self):
        """Return the matrix of the network with the supply at house 0."""
        matrix = np.zeros((HOUSES, HOUSES))
        for (first, second), value in self.lines.items():
            matrix[first, first] += value
            matrix[second, second] += value
            matrix[first, second] -= value
            matrix[second, first] -= value
        matrix[0, 0] += 50.0
        return matrix

    def flow(self, load):
        """Solve for the drop of voltage under a load in kilowatts."""
        impedance = np.linalg.inv(self.admittance())
        self.drop = impedance @ load
        self.losses += float(self.drop @ load)
        if self.drop.max() > 1.0:
            self.alarms += 1


def main(run):
    grid = run.track("grid", Grid(run.rng("layout")))
    habits = run.rng("habits")
    for hour in run.ticks(24):
        if hour % 8 == 5:
            line = sorted(grid.lines)[int(habits.integers(len(grid.lines)))]
            grid.lines[line] *= 0.5
            grid.cut.append(line)
        load = habits.integers(0, 9, HOUSES) / 4 * (2 if 17 <= hour < 21 else 1)
        grid.flow(load)
    return grid.alarms
