"""Forest plots as the drone survey delivers them."""

import json
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Settings:
    """How a survey is made.

    Attributes:
        seed: of the points.
        points: how many are thrown at each plot.
        workers: plots that are worked on at a time.
        dense: the cover from which a plot is marked.
    """

    seed: int
    points: int
    workers: int
    dense: float


@dataclass(frozen=True)
class Plot:
    """A square plot of side 1 with round crowns: centre and radius."""

    name: str
    hectares: float
    crowns: tuple[tuple[float, float, float], ...]

    def is_covered(self, x: float, y: float) -> bool:
        """Say whether a point lies below a crown."""
        return any((x - cx) ** 2 + (y - cy) ** 2 < r * r for cx, cy, r in self.crowns)


def read_settings(path: Path) -> Settings:
    """Read the settings of a survey."""
    return Settings(**json.loads(path.read_text(encoding="utf-8")))


def read_plots(path: Path) -> list[Plot]:
    """Read all plots, by name."""
    rows = json.loads(path.read_text(encoding="utf-8"))
    plots = {row["name"]: row for row in rows}
    return [
        Plot(name, plots[name]["hectares"], tuple(map(tuple, plots[name]["crowns"])))
        for name in sorted(set(plots))
    ]
