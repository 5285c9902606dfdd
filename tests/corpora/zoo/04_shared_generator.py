"""Weather and the particles that show it draw from one generator; the graphics setting counts."""

from __future__ import annotations

import os

import numpy as np


class Weather:
    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng
        self.pressure = np.full(16, 1013.0)
        self.wind = 0.0

    def step(self) -> None:
        self.pressure += self.rng.normal(0.0, 0.2, self.pressure.size)
        self.wind = float(np.diff(self.pressure).max())

    def state(self) -> dict:
        return {"pressure": self.pressure, "wind": self.wind}

    def restore(self, state: dict) -> None:
        self.pressure, self.wind = state["pressure"], state["wind"]


class Particles:
    """What the screen shows of the wind: cosmetic, so nobody tracks it."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng

    def budget(self) -> int:
        return 24 if os.environ.get("ZOO_GRAPHICS") == "high" else 8

    def show(self, wind: float) -> float:
        return float(np.sum(wind * self.rng.random(self.budget())))  # ZOO: guilty


def main(run) -> None:
    rng = run.rng("weather")
    weather = run.track("weather", Weather(rng))
    particles = Particles(rng)
    for tick in run.ticks(16):
        weather.step()
        if tick >= 5:
            particles.show(weather.wind)
