"""Basins, and the canals between them."""

import math
import random


class Basin:
    """A basin of area 1 whose level is its volume."""

    def __init__(self, name: str, level: float) -> None:
        self.name = name
        self.level = level


class Canal:
    """A canal between two basins; it carries more when it is wide."""

    def __init__(self, one: Basin, other: Basin, width: float) -> None:
        self.one = one
        self.other = other
        self.width = width

    def equalize(self, limit: float) -> float:
        """Let water flow to the lower basin, and return how much."""
        flow = (self.one.level - self.other.level) * self.width / 2
        flow = max(-limit, min(limit, flow))
        self.one.level -= flow
        self.other.level += flow
        return abs(flow)


class Network:
    """All basins in the order of their names, and all canals, each one once."""

    def __init__(self) -> None:
        self.basins: list[Basin] = []
        self.canals: set[Canal] = set()

    def add_basin(self, name: str, level: float) -> Basin:
        """Add a basin and return it."""
        basin = Basin(name, level)
        self.basins.append(basin)
        return basin

    def connect(self, one: Basin, other: Basin, width: float) -> None:
        """Add a canal."""
        self.canals.add(Canal(one, other, width))

    def volume(self) -> float:
        """Return the water in all basins."""
        return math.fsum(basin.level for basin in self.basins)


def build_grid(rows: int, columns: int, seed: int) -> Network:
    """Return a grid of basins with levels and widths that the seed decides."""
    draw = random.Random(seed)
    network = Network()
    grid = [
        [network.add_basin(f"b{row:02}-{column:02}", draw.uniform(0.5, 3.0)) for column in range(columns)]
        for row in range(rows)
    ]
    for row in range(rows):
        for column in range(columns):
            if column + 1 < columns:
                network.connect(grid[row][column], grid[row][column + 1], draw.uniform(0.2, 0.9))
            if row + 1 < rows:
                network.connect(grid[row][column], grid[row + 1][column], draw.uniform(0.2, 0.9))
    return network
