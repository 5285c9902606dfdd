"""The recorder of this checkout beside that of another one: ticks, environments, snapshots, reads, files, a long record.

Usage: python benchmarks/recorder.py [--against SRC] [--only REGEX] [--rounds N] [--small] [--output FILE.jsonl]

``SRC`` is the ``src`` folder of the other checkout, whose commit the figures name; without it there is one figure for
each kind of work. Each round runs each kind of work once under both, one after the other in fresh processes, and takes the
ratio of their CPU seconds, so that both meet the same machine. Which one is first changes with each round. The program and
the record are the same for both. Ticks, steps and snapshots are timed inside the recorded loop: a process' start is in
``commands.py``. The record of ten million points is opened and every byte of it is proved, in a process that has loaded
numpy. The programs of ``below_python.py`` are timed as whole commands with all of their processes.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import re
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import measuring
from below_python import WORK as FILES
from commands import adopt_orphans, cpu_ms
from record import point_log

OWN = Path(__file__).parents[1] / "src"
PROGRAM = f"{measuring.PROGRAMS / 'recorder_work.py'}:main"
PROVED = """
import json, sys, time, numpy, twice
# By way of a public name: the other checkout may keep its modules elsewhere.
reader = sys.modules[twice.open.__func__.__module__].RecordReader
began = time.process_time()
with reader.open(sys.argv[1]) as record:
    record.check()
print(json.dumps({"s": time.process_time() - began}), file=open(sys.argv[2], "a"))
"""
WORK = {
    "tick of four components": ({"work": "parts", "ticks": 4000}, "every=100"),
    "CartPole-v1": ({"work": "CartPole-v1", "ticks": 6000}, "every=100"),
    "Ant-v5": ({"work": "Ant-v5", "ticks": 1500}, "every=100"),
    "snapshot of 64 MB with 1 % drift": ({"work": "pages", "size": 64, "ticks": 12}, "every=1"),
    "10,000 clock reads": ({"work": "clock", "reads": 10_000, "ticks": 50}, "none"),
    "10,000 os.urandom(16)": ({"work": "entropy", "reads": 10_000, "ticks": 10}, "none"),
    "10,000 os.environ[...]": ({"work": "variable", "reads": 10_000, "ticks": 10}, "none"),
    "10,000 @effect calls": ({"work": "effect", "reads": 10_000, "ticks": 3}, "none"),
}
SMALL = {"ticks": 5, "size": 1, "reads": 100}
WHOLE = {"importing", "opening", "drawing_by_pillow"}
FILES_PROGRAM = str(measuring.PROGRAMS / "native_work.py")
LONG = "record of 10 million points, opened and proved"
POINTS = 10_000_000


def time_inside(source: Path, arguments: Sequence[str], folder: Path) -> float:
    """Run Python with one checkout's twice, and return the milliseconds that the program measured itself."""
    # Byte code is written, as installed packages have it; images of containers forbid that by a variable.
    environ = {**os.environ, "PYTHONPATH": str(source), "PYTHONDONTWRITEBYTECODE": ""}
    done = subprocess.run(
        [sys.executable, *arguments], cwd=folder, env=environ, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr.decode()
    return measuring.read_lines(folder / "measured.jsonl")[-1]["s"] * 1e3


def kinds(folder: Path, small: bool) -> Iterator[tuple[str, int, Callable[[Path], float]]]:
    """Yield the name, the number of items, and how to measure each kind of work: checkout to milliseconds of CPU."""
    record = ("-m", "twice", "record", "--seed", "1", "--quiet", "--force", "-o", "work.twice")
    measured = str(folder / "measured.jsonl")
    for name, (config, cadence) in WORK.items():
        smaller = {key: SMALL[key] for key in SMALL if small and key in config}
        chosen = {**config, **smaller, "to": measured}
        given = [part for key, value in chosen.items() for part in ("--set", f"{key}={value}")]
        command = [*record, "--snapshots", cadence, *given, PROGRAM]
        yield name, chosen["ticks"], partial(time_inside, arguments=command, folder=folder)
    for program, count, few, said, library in FILES:
        if program in WHOLE and (library is None or importlib.util.find_spec(library)):
            command = [
                sys.executable,
                *record,
                FILES_PROGRAM,
                program,
                str(few if small else count),
            ]
            yield said, 1, partial(cpu_ms, command, str(folder))
    proved = ["-c", PROVED, "points.twice", measured]
    yield LONG, 1, partial(time_inside, arguments=proved, folder=folder)


def figures(
    rounds: int, against: Path | None, only: str, small: bool
) -> Iterator[dict[str, object]]:
    """Yield a figure for each kind of work and checkout, and the ratio of both."""
    other = "" if against is None else measuring.describe_commit(against)
    sources = {"now": OWN, **({} if against is None else {other: against.resolve()})}
    with tempfile.TemporaryDirectory() as at:
        folder = Path(at)
        for number in range(0, 100, 2):  # what the programs of files read
            Path(folder, f"input-{number}").write_text("content")
        for name, items, measure in kinds(folder, small):
            if not re.search(only, name):
                continue
            if name == LONG:
                point_log(folder / "points.twice", 20_000 if small else POINTS).close()
            taken: dict[str, list[float]] = {mark: [] for mark in sources}
            for turn in range(rounds + 1):  # the first one writes byte code, and does not count
                for mark in sorted(sources, reverse=bool(turn % 2)):
                    taken[mark] += [measure(sources[mark]) / items] * bool(turn)
            for mark, times in taken.items():
                yield {"figure": f"{name}, {mark}", "unit": "ms", **measuring.spread(times, 4)}
            if against is None:
                continue
            ratios = [now / then for now, then in zip(*taken.values(), strict=True)]
            low, _, high = statistics.quantiles(ratios, n=4) if rounds > 1 else (ratios * 3)
            quartiles = {"quartiles": [round(low, 3), round(high, 3)]}
            yield {
                "figure": f"{name}, now to {other}", "unit": "x",
                **measuring.spread(ratios), **quartiles,
            }  # fmt: skip


def arrange(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--against", type=Path, metavar="SRC")
    parser.add_argument("--only", default="", metavar="REGEX")


def main() -> None:
    """Measure and print."""
    adopt_orphans()
    chosen = measuring.options("recorder", __doc__.splitlines()[0], rounds=15, arrange=arrange)
    told = figures(chosen.rounds, chosen.against, chosen.only, chosen.small)
    measuring.tell("recorder", told, chosen.output)


if __name__ == "__main__":
    main()
