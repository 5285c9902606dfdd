"""A job scheduler that spreads its retries by bytes from the operating system."""

from __future__ import annotations

import os


class Scheduler:
    def __init__(self, rng) -> None:
        self.rng = rng
        self.due = {f"job-{i}": i for i in range(6)}
        self.failures = 0
        self.finished = 0

    def backoff(self, attempt: int) -> int:
        spread = os.urandom(4)  # ZOO: guilty
        return attempt + 1 + sum(spread) % 97

    def step(self, tick: int) -> None:
        for name, when in self.due.items():
            if when > tick:
                continue
            if self.rng.random() < 0.4:
                self.failures += 1
                self.due[name] = tick + self.backoff(self.failures)
            else:
                self.finished += 1
                self.due[name] = tick + 3

    def state(self) -> dict:
        return {"due": self.due, "failures": self.failures, "finished": self.finished}

    def restore(self, state: dict) -> None:
        self.due, self.failures = state["due"], state["failures"]
        self.finished = state["finished"]


def main(run) -> None:
    scheduler = run.track("scheduler", Scheduler(run.python("luck")))
    for tick in run.ticks(20):
        scheduler.step(tick)
