"""What recording adds to a tick, as a curve over components, scalars and bytes.

Usage: python benchmarks/overhead.py [--rounds N] [--small] [--output FILE.jsonl]

One of the three is varied, the others stay at 4 components, 40 scalars and 32 KB in all; every scalar
and every byte changes at every tick, and one stream is drawn from. Figures are CPU microseconds per
tick above the same loop run bare in the same process, writing of the record included: compare-points
with streams, inputs, effects and output columns; once without snapshots and once with the default
cadence. Goal: at most 50 us (5 % of a 1 ms tick) up to 4 components, 40 scalars and 32 KB.

``compiled.py`` says what the compiled twin saves.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import measuring

import twice
from twice.recorder.cadence import parse_cadence

KB = 1024
BASE = {"components": 4, "scalars": 40, "bytes": 32 * KB}
CURVES = {
    "components": (1, 2, 4, 8, 16),
    "scalars": (5, 10, 40, 160),
    "bytes": (0, 8 * KB, 32 * KB, 256 * KB),
}
SMALLEST = {"components": 1, "scalars": 5, "bytes": 0}
CADENCES = {"no snapshots": "none", "default snapshots": "every=100"}


def places() -> list[dict[str, int]]:
    """Every place on the three curves once, the smallest first."""
    found = [SMALLEST]
    for axis, values in CURVES.items():
        found += [{**BASE, axis: value} for value in values]
    return [place for at, place in enumerate(found) if place not in found[:at]]


def measured(
    place: dict[str, int], cadence: str, rounds: int, ticks: int
) -> dict[str, list[float]]:
    with tempfile.TemporaryDirectory() as folder:
        to = Path(folder, "measured.jsonl")
        config = {**place, "rounds": rounds, "ticks": ticks, "to": str(to)}
        program = f"{measuring.PROGRAMS / 'ticking.py'}:main"
        out = Path(folder, "ticking.twice")
        policies = {"cadence": parse_cadence(cadence)}
        twice.record(program, seed=1, config=config, out=out, **policies).close()
        lines = measuring.read_lines(to)
    return {name: [line[name] for line in lines] for name in lines[0]}


def figures(rounds: int, ticks: int, among: list[dict[str, int]]) -> Iterator[dict[str, object]]:
    for name, cadence in CADENCES.items():
        for place in among:
            samples = measured(place, cadence, rounds, ticks)
            where = ", ".join(f"{value} {axis}" for axis, value in place.items())
            figure = {"figure": f"{where}, {name}", "unit": "us/tick", **place}
            bare = measuring.spread(samples["bare"], 1)["value"]
            yield figure | measuring.spread(samples["added"], 1) | {"bare": bare}


def main() -> None:
    chosen = measuring.options("overhead", __doc__.splitlines()[0], rounds=7)
    ticks, among = (20, [SMALLEST, BASE]) if chosen.small else (2_000, places())
    measuring.tell("overhead", figures(chosen.rounds, ticks, among), chosen.output)


if __name__ == "__main__":
    sys.exit(main())
