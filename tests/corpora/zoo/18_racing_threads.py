"""Two workers put their results into one list, in the order in which they get there.

``ZOO_SLOW`` names the worker that is stalled at a gate until the other one is through: a race with
a fixed outcome.
"""

from __future__ import annotations

import os
import threading


def preempted(worker: int, gate: threading.Event) -> None:
    """Where the scheduler takes one worker off its core."""
    if os.environ.get("ZOO_SLOW", "1") == str(worker):
        gate.wait(10.0)


class Pipeline:
    def __init__(self, rng) -> None:
        self.rng = rng
        self.items = [0.0] * 6
        self.results: list[float] = []
        self.mean = 0.0

    def work(self, worker: int, items: list[float], gate: threading.Event) -> None:
        value = sum(items[worker::2])
        preempted(worker, gate)
        self.results.append(value)  # ZOO: guilty
        gate.set()

    def step(self) -> None:
        self.items = [item + self.rng.random() for item in self.items]
        self.results = []
        gate = threading.Event()
        threads = [
            threading.Thread(target=self.work, args=(worker, self.items, gate))
            for worker in range(2)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.mean = self.mean * 0.9 + 0.1 * self.results[0]

    def state(self) -> dict:
        return {"items": self.items, "results": self.results, "mean": self.mean}


def main(run) -> None:
    pipeline = run.track("pipeline", Pipeline(run.python("source")))
    for _ in run.ticks(10):
        pipeline.step()
