"""A shop floor plans shifts by the hour that the clock on the wall would show."""

from __future__ import annotations

import time

OPENING = 1_700_000_000.0


class Floor:
    def __init__(self, rng) -> None:
        self.rng = rng
        self.open_jobs = 0
        self.done = 0
        self.night_shifts = 0

    def hour(self, tick: int) -> int:
        return time.localtime(OPENING + 3600.0 * tick).tm_hour  # ZOO: guilty

    def step(self, tick: int) -> None:
        self.open_jobs += self.rng.randrange(1, 5)
        at_night = tick >= 4 and not 7 <= self.hour(tick) < 19
        workers = 1 if at_night else 3
        self.night_shifts += at_night
        finished = min(self.open_jobs, workers)
        self.open_jobs -= finished
        self.done += finished

    def state(self) -> dict:
        return {"open": self.open_jobs, "done": self.done, "night": self.night_shifts}

    def restore(self, state: dict) -> None:
        self.open_jobs, self.done = state["open"], state["done"]
        self.night_shifts = state["night"]


def main(run) -> None:
    floor = run.track("floor", Floor(run.python("orders")))
    for tick in run.ticks(24):
        floor.step(tick)
