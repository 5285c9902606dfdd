"""A pond that rain fills; the wind that dries it has a generator that nobody gave a seed."""

from __future__ import annotations

import numpy as np


class Pond:
    def __init__(self, rain: np.random.Generator) -> None:
        self.rain = rain
        self.wind = np.random.default_rng()
        self.level = 100.0

    def pass_night(self) -> None:
        self.level += self.rain.exponential(4.0)

    def pass_day(self) -> None:
        self.level -= self.wind.exponential(4.0)

    def state(self) -> dict:
        return {"level": self.level}

    def restore(self, state: dict) -> None:
        self.level = state["level"]


def main(run) -> None:
    pond = run.track("pond", Pond(run.rng("rain")))
    for tick in run.ticks(12):
        pond.pass_night()
        if tick >= 3:
            pond.pass_day()
