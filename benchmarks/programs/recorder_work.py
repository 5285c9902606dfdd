"""One kind of work under a recorder: ticks of parts, steps of an environment, snapshots of a large array, or reads.

Run by ``benchmarks/recorder.py``, by this checkout's twice and by another's, so it uses public names alone. CPU seconds
of this process are appended to the file ``config["to"]``, one line.
"""

from __future__ import annotations

import json
import os
import resource
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import twice

PAGE = 4096


def cpu() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


class Part:
    """Ten scalars and 8 KB of floats, all of which change at every tick."""

    def __init__(self) -> None:
        self.values = {f"value_{at}": float(at) for at in range(10)}
        self.array = np.zeros(1024)

    def step(self, by: float) -> None:
        for name in self.values:
            self.values[name] += by
        self.array += by

    def state(self) -> dict[str, object]:
        return {**self.values, "array": self.array}


class Pages:
    """64 MB, of which each step changes one page in a hundred."""

    def __init__(self, megabytes: int) -> None:
        self.draw = np.random.default_rng(1)
        self.array = self.draw.standard_normal((megabytes * 256, PAGE // 4)).astype(np.float32)

    def step(self) -> None:
        count = len(self.array)
        self.array[self.draw.choice(count, max(count // 100, 1), replace=False)] += np.float32(0.5)

    def state(self) -> dict[str, object]:
        return {"array": self.array}


def prepare_parts(run: twice.Run) -> Callable[[], object]:
    rng = run.rng("parts")
    parts = [run.track(f"part/{at}", Part()) for at in range(4)]

    def step() -> None:
        by = float(rng.random())
        for part in parts:
            part.step(by)

    return step


def prepare_pages(run: twice.Run) -> Callable[[], object]:
    return run.track("pages", Pages(run.config["size"])).step


def prepare_environment(run: twice.Run) -> Callable[[], object]:
    import gymnasium

    from twice.integrations.gymnasium import wrap

    name = run.config["work"]
    env = wrap(run, gymnasium.make(name), name="env")
    env.action_space.seed(3)
    actions = [env.action_space.sample() for _ in range(256)]
    env.reset(seed=3)
    taken = 0

    def step() -> None:
        nonlocal taken
        _, _, terminated, truncated, _ = env.step(actions[taken % 256])
        taken += 1
        if terminated or truncated:
            env.reset()

    return step


@twice.effect
def measure(value: int) -> int:
    return value + 1


READS: dict[str, Callable[[], object]] = {
    "clock": time.time,
    "entropy": lambda: os.urandom(16),
    "variable": lambda: os.environ["HOME"],
    "effect": lambda: measure(1),
}


def prepare_reads(run: twice.Run) -> Callable[[], object]:
    read, count = READS[run.config["work"]], run.config["reads"]

    def step() -> None:
        for _ in range(count):
            read()

    return step


def main(run: twice.Run) -> None:
    work = run.config["work"]
    prepare = {
        "parts": prepare_parts,
        "pages": prepare_pages,
        **dict.fromkeys(READS, prepare_reads),
    }
    step = prepare.get(work, prepare_environment)(run)
    began = cpu()
    for _ in run.ticks(run.config["ticks"]):
        step()
    ended = cpu()
    with Path(run.config["to"]).open("a", encoding="utf-8") as out:
        out.write(json.dumps({"s": ended - began}) + "\n")
