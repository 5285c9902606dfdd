"""A walk with everything a record can hold: streams, inputs, effects, output, phases, snapshots."""

from __future__ import annotations

import time
from typing import Any

import twice


class Walk:
    def __init__(self, rng: Any, toss: Any) -> None:
        self.rng, self.toss = rng, toss
        self.place = {"zonal": 0, "meridional": 0}
        self.visits: list[tuple[int, int]] = []

    def step(self, push: int) -> None:
        for axis in self.place:
            self.place[axis] += int(self.rng.integers(-3, 4)) + push
        if self.toss.random() < 0.25:
            self.visits.append((self.place["zonal"], self.place["meridional"]))

    def state(self) -> dict[str, Any]:
        return {"place": self.place, "visits": self.visits}

    def restore(self, state: dict[str, Any]) -> None:
        self.place, self.visits = state["place"], state["visits"]


@twice.effect
def oracle(question: int) -> int:
    return question * 2 + 1


def main(run: twice.Run) -> None:
    walk = run.track("walk", Walk(run.rng("walk"), run.python("toss")))
    for tick in run.ticks(run.config["ticks"]):
        push = run.input("push", lambda: -1 if walk.place["zonal"] > 5 else 1)
        walk.step(push)
        run.phase("stepped")
        if tick % 10 == 3:
            run.compare("answer", oracle(tick) + int(time.time() > 0))
            print("tick", tick, sorted(walk.place.items()))
