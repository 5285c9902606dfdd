"""A queue at a counter: its generator is an attribute that ``state()`` leaves out."""

from __future__ import annotations

import random


class Counter:
    def __init__(self, seed: int) -> None:
        self.arrivals = random.Random(seed)
        self.queue = 0
        self.served = 0
        self.longest = 0

    def arrive(self) -> None:
        self.queue += self.arrivals.randrange(0, 1000)  # ZOO: guilty

    def serve(self) -> None:
        done = min(self.queue, 450)
        self.queue -= done
        self.served += done
        self.longest = max(self.longest, self.queue)

    def state(self) -> dict:
        return {"queue": self.queue, "served": self.served, "longest": self.longest}

    def restore(self, state: dict) -> None:
        self.queue, self.served = state["queue"], state["served"]
        self.longest = state["longest"]


def main(run) -> None:
    counter = run.track("counter", Counter(31))
    for _ in run.ticks(20):
        counter.arrive()
        counter.serve()
