"""Programs whose cost is measured, what they are measured with, and costs on figures that were made up."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

from twice.foundation.seeds import Seed
from twice.recorder.cadence import Cadence
from twice.recorder.environment.surroundings import for_recording
from twice.recorder.program_spec import parse_program
from twice.recorder.setup import Setup
from twice.specification.cost.result import Cost, MeasuredRun
from twice.specification.cost.rules import NOT_SWITCHED, RULES, RunVariant

SWARM = Path(__file__).parents[3] / "examples" / "swarm.py"
COUNTER = """
class Counter:
    def __init__(self):
        self.seen = []

    def state(self):
        return {"seen": self.seen}

    def restore(self, state):
        self.seen = state["seen"]
"""
"""A component; programs append their ``main`` to it."""
READER = """
import json, random, time

def main(run):
    counter = run.track("counter", Counter())
    for tick in run.ticks(run.config["ticks"]):
        counter.seen = [time.time(), random.random(), json.load(open(DATA))["n"]]
        print("tick", tick)
"""
"""Reads the clock, a shared generator and a file at every tick, and prints."""
ORDERED = """
def main(run):
    counter = run.track("counter", Counter())
    for tick in run.ticks(run.config["ticks"]):
        counter.seen = list({f"name {at}" for at in range(40)})
"""
"""Its state is the order of a set of text."""
ZONES = {"TZ": "Asia/Tokyo", "LC_ALL": "C"}
"""Other than what a machine chooses by itself, so that leaving them to it is seen."""


def reader(folder: Path) -> Path:
    """Write the program that reads, and its file."""
    data = folder / "data.json"
    data.write_text('{"n": 3}', encoding="utf-8")
    return written(folder, READER.replace("DATA", repr(str(data))), "reading.py")


def written(folder: Path, source: str, name: str = "program.py") -> Path:
    """Write a program with its component."""
    path = folder / name
    path.write_text(COUNTER + textwrap.dedent(source), encoding="utf-8")
    return path


def declared(path: Path, *, ticks: int = 20, **policies: Any) -> RunVariant:
    """Give what a program's ``main`` is measured with."""
    config = {"ticks": ticks, **({"n": 4} if path == SWARM else {})}
    policies = {"cadence": Cadence("tick", 10), **policies}
    setup = Setup(parse_program(f"{path}:main"), Seed(7), config, **policies)
    return RunVariant(setup, for_recording({}, explicit=ZONES))


def run_of(seconds: float, size_bytes: int = 0) -> MeasuredRun:
    """One run that was made up."""
    return MeasuredRun(seconds, seconds, 0.3, 100, size_bytes, outcome="sha256:00")


def made_cost(*names: str, budget_percent: int | None = None) -> Cost:
    """Two equal rounds: a bare run of 1 s, everything 2 s, without each rule (snapshots by default) 1.5 s."""
    everything, without, bare = ([run_of(each, size)] * 2 for each, size in
                                 ((2.0, 3000), (1.5, 2000), (1.0, 0)))  # fmt: skip
    rules = [rule for rule in RULES if rule.name in (names or ("snapshots",))]
    return Cost(
        about={"program": "swarm.py:main", "code": {"swarm.py": "sha256:00"}},
        by="wall",
        everything=everything,
        bare=bare,
        without=[(rule, without) for rule in rules],
        unmeasured=NOT_SWITCHED[:1],
        budget_percent=budget_percent,
    )
