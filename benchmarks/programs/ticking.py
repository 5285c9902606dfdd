"""A program whose ticks do next to nothing, so that what recording adds can be seen.

Run by ``benchmarks/overhead.py``. The same loop runs twice in one process: bare, and as the run's
ticks. What it measures it appends to the file ``config["to"]``.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import numpy as np

import twice
from twice.recorder.effects import ops
from twice.recorder.effects.clock import REAL

cpu = REAL[ops.PROCESS_TIME]


class Part:
    """Some scalars and an array, all of which change at every tick."""

    def __init__(self, scalars: int, size: int) -> None:
        self.values = {f"value_{at}": float(at) for at in range(scalars)}
        self.array = np.zeros(size // 8)

    def step(self, by: float) -> None:
        for name in self.values:
            self.values[name] += by
        self.array += by

    def state(self) -> dict[str, Any]:
        return {**self.values, "array": self.array} if self.array.size else self.values

    def restore(self, state: dict[str, Any]) -> None:
        self.array = state.pop("array", self.array)
        self.values = state


def shares(total: int, among: int) -> list[int]:
    """Cut a whole into nearly equal parts."""
    return [total * (at + 1) // among - total * at // among for at in range(among)]


def parts(config: Any) -> list[Part]:
    count = config["components"]
    sizes = zip(shares(config["scalars"], count), shares(config["bytes"] // 8, count), strict=True)
    return [Part(scalars, 8 * words) for scalars, words in sizes]


def loop(ticks: Iterable[int], of: list[Part], rng: np.random.Generator) -> float:
    """CPU seconds of a loop over ticks."""
    start = cpu()
    for _ in ticks:
        by = float(rng.random())
        for part in of:
            part.step(by)
    return float(cpu() - start)  # type: ignore[arg-type]


def main(run: twice.Run) -> None:
    count = run.config["ticks"]
    rng = run.rng("parts")
    tracked = [run.track(f"part/{at}", part) for at, part in enumerate(parts(run.config))]
    for _ in range(run.config["rounds"]):
        bare = loop(range(count), parts(run.config), rng)
        recorded = loop(run.ticks(count), tracked, rng)
        with open(run.config["to"], "a", encoding="utf-8") as out:
            line = {"bare": bare / count * 1e6, "added": (recorded - bare) / count * 1e6}
            out.write(json.dumps(line) + "\n")
