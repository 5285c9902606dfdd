"""The recorder of this checkout beside that of another one: ticks, environments, snapshots, and a long record.

Usage: python benchmarks/recorder.py [--against SRC] [--rounds N] [--small] [--output FILE.jsonl]

``SRC`` is the ``src`` folder of the other checkout; without it there is one figure for each kind of work. Each round runs each kind of work once under both, one after the
other in fresh processes, and takes the ratio of their CPU seconds, so that both meet the same machine. Which one is
first changes with each round. The program and the record are the same for both. Ticks, steps and snapshots are timed
inside the recorded loop: a process' start is in ``commands.py``. The record of ten million points is opened and every
byte of it is proved, in a process that has loaded numpy.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import measuring
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
}
SMALL = {"ticks": 5, "size": 1}
POINTS = 10_000_000


def run(source: Path, arguments: list[str], folder: Path) -> None:
    """Run Python with one checkout's twice."""
    # Byte code is written, as installed packages have it; images of containers forbid that by a variable.
    environ = {**os.environ, "PYTHONPATH": str(source), "PYTHONDONTWRITEBYTECODE": ""}
    done = subprocess.run(
        [sys.executable, *arguments], cwd=folder, env=environ, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr.decode()


def commands(folder: Path, small: bool) -> Iterator[tuple[str, float, list[str]]]:
    """Yield the name, the number of items, and the arguments of Python for each kind of work."""
    for name, (config, cadence) in WORK.items():
        smaller = {key: SMALL[key] for key in SMALL if small and key in config}
        chosen = {**config, **smaller, "to": str(folder / "measured.jsonl")}
        given = [part for key, value in chosen.items() for part in ("--set", f"{key}={value}")]
        command = ["-m", "twice", "record", PROGRAM, "--seed", "1", "--snapshots", cadence]
        yield name, chosen["ticks"], [*command, "--force", "-o", "work.twice", *given]
    points = 20_000 if small else POINTS
    point_log(folder / "points.twice", points).close()
    yield (
        "record of 10 million points, opened and proved", 1,
        ["-c", PROVED, "points.twice", str(folder / "measured.jsonl")],
    )  # fmt: skip


def figures(rounds: int, against: Path | None, small: bool) -> Iterator[dict[str, object]]:
    """Yield a figure for each kind of work and checkout, and the ratio of both."""
    sources = {"now": OWN, **({} if against is None else {"before": against.resolve()})}
    with tempfile.TemporaryDirectory() as at:
        folder = Path(at)
        for name, items, arguments in commands(folder, small):
            taken: dict[str, list[float]] = {mark: [] for mark in sources}
            for turn in range(rounds + 1):  # the first one writes byte code, and does not count
                for mark in sorted(sources, reverse=bool(turn % 2)):
                    run(sources[mark], arguments, folder)
                    spent = measuring.read_lines(folder / "measured.jsonl")[-1]["s"]
                    taken[mark] += [spent / items * 1e3] * bool(turn)
            for mark, times in taken.items():
                yield {"figure": f"{name}, {mark}", "unit": "ms", **measuring.spread(times, 4)}
            if against is None:
                continue
            ratios = [now / then for now, then in zip(*taken.values(), strict=True)]
            low, _, high = statistics.quantiles(ratios, n=4) if rounds > 1 else (ratios * 3)
            quartiles = {"quartiles": [round(low, 3), round(high, 3)]}
            yield {
                "figure": f"{name}, now to before", "unit": "x",
                **measuring.spread(ratios), **quartiles,
            }  # fmt: skip


def main() -> None:
    """Measure and print."""
    chosen = measuring.options(
        "recorder", __doc__.splitlines()[0], rounds=15,
        arrange=lambda parser: parser.add_argument("--against", type=Path, metavar="SRC"),
    )  # fmt: skip
    told = figures(chosen.rounds, chosen.against, chosen.small)
    measuring.tell("recorder", told, chosen.output)


if __name__ == "__main__":
    main()
