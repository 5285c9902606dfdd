"""What it costs to see the files of any code: whole programs, bare, recorded with this layer and without it.

Usage: python benchmarks/below_python.py [--rounds N] [--small] [--output FILE.jsonl]

Each round runs a program four ways, in an order that is drawn anew: bare; recorded without a supervisor; recorded with
it; and under ``strace --seccomp-bpf``, the peer that sees the same calls through ptrace, where it is installed. Figures are
ratios within one round: wall clock and CPU of the whole process tree, the supervisor's own time included. Goals: 1.05 of the wall
clock for a program that imports torch, 1.01 of the CPU for one that touches no file of its own. That one takes three times as many
rounds, since its figure is smaller than what a shared machine varies by, and runs in two ways alone.
"""

from __future__ import annotations

import importlib.util
import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

import measuring

PROGRAM = str(measuring.PROGRAMS / "native_work.py")
IDLE = "computing"
WORK = (
    ("importing", 1, 1, "import of torch", "torch"),
    ("opening", 10_000, 100, "10,000 opens in C", None),
    ("forking", 400, 4, "400 children", None),
    ("drawing_by_opencv", 5_000, 20, "5,000 images by OpenCV", "cv2"),
    ("drawing_by_pillow", 5_000, 20, "5,000 images by Pillow", "PIL"),
    (IDLE, 100_000_000, 1_000, "no file touched", None),
)
"""Name, count, count when small, what it is called, and the library that it needs."""
RECORD = (
    sys.executable,
    "-m",
    "twice",
    "record",
    "--seed",
    "1",
    "--quiet",
    "--out",
    "a.twice",
    PROGRAM,
)


class Cost(NamedTuple):
    """Of one run, with every process that it started, in seconds."""

    wall: float
    cpu: float


def ways() -> dict[str, tuple[tuple[str, ...], dict[str, str]]]:
    """Command and variables of each way."""
    found: dict[str, tuple[tuple[str, ...], dict[str, str]]] = {
        "bare": ((sys.executable, PROGRAM), {}),
        "without": (RECORD, {"TWICE_WITHOUT": "supervisor"}),
        "recorded": (RECORD, {}),
    }
    if strace := shutil.which("strace"):
        trace = (strace, "-f", "--seccomp-bpf", "-e", "trace=%file", "-o", "trace.txt")
        found["strace"] = ((*trace, sys.executable, PROGRAM), {})
    return found


def cost(command: tuple[str, ...], variables: dict[str, str]) -> Cost:
    """Run a command in a folder of its own."""
    with tempfile.TemporaryDirectory() as folder:
        for number in range(0, 100, 2):
            Path(folder, f"input-{number}").write_text("content")
        before, began = resource.getrusage(resource.RUSAGE_CHILDREN), perf_counter()
        subprocess.run(
            command, cwd=folder, env={**os.environ, **variables}, check=True, capture_output=True
        )
        wall, after = perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    return Cost(wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def compare(name: str, count: int, rounds: int) -> Iterator[tuple[str, list[float]]]:
    """Ratios of each round, by what is compared."""
    taken: list[dict[str, Cost]] = []
    chosen = {way: ways()[way] for way in ("without", "recorded")} if name == IDLE else ways()
    for _ in range(rounds * 3 if name == IDLE else rounds):
        order = list(chosen.items())
        random.shuffle(order)
        taken.append(
            {way: cost((*command, name, str(count)), env) for way, (command, env) in order}
        )
    for over, under, said in (
        ("recorded", "without", "with this layer, to a recording without it"),
        ("recorded", "bare", "recorded, to bare"),
        ("strace", "bare", "strace --seccomp-bpf, to bare"),
    ):
        if over in taken[0] and under in taken[0]:
            for part in Cost._fields:
                ratios = [getattr(each[over], part) / getattr(each[under], part) for each in taken]
                yield f"{said}, {part}", ratios


def figures(rounds: int, *, small: bool) -> Iterator[dict[str, object]]:
    for name, count, few, said, library in WORK:
        if library is not None and importlib.util.find_spec(library) is None:
            continue
        for figure, ratios in compare(name, few if small else count, rounds):
            yield {"figure": f"{said}: {figure}", "unit": "x"} | measuring.spread(ratios)


def main() -> None:
    chosen = measuring.options("below_python", __doc__.splitlines()[0], rounds=9)
    found = figures(chosen.rounds, small=chosen.small)
    measuring.tell("below_python", found, chosen.output)


if __name__ == "__main__":
    sys.exit(main())
