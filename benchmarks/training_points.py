"""What a compare-point of a training costs: a model of 100 MB in 25 tensors, and the generators of three streams.

Usage: python benchmarks/training_points.py [--rounds N] [--small] [--output FILE.jsonl]

The model is tracked under ``xxh3_128``, and all of its tensors are moved in every tick. Beside it, in the same ticks,
stands xxh3_128 over the same memory without anything of twice. Figures are wall-clock times of one thread, the median of
the ticks. Goals: 4 ms for the point, 5 us for the positions of the streams.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import measuring

import twice
from twice.foundation.digests import Algorithm
from twice.recorder.cadence import parse_cadence

MEGABYTES = 100


def figures(rounds: int, megabytes: int) -> Iterator[dict[str, object]]:
    with tempfile.TemporaryDirectory() as folder:
        to = Path(folder, "measured.jsonl")
        config = {"rounds": rounds, "megabytes": megabytes, "to": str(to)}
        twice.record(
            f"{measuring.PROGRAMS / 'training_points.py'}:main",
            seed=1,
            config=config,
            out=Path(folder, "points.twice"),
            algorithm=Algorithm.XXH3_128,
            cadence=parse_cadence("none"),
        ).close()
        (line,) = measuring.read_lines(to)
    move = statistics.median(line["move"])
    point = [1e3 * (each - move) for each in line["point"]]
    model = f"a model of {megabytes} MB"
    yield {"figure": f"compare-point of {model}", "unit": "ms"} | measuring.spread(point)
    plain = [1e3 * each for each in line["xxh3"]]
    yield {"figure": f"xxh3_128 over {model}", "unit": "ms"} | measuring.spread(plain)
    positions = [1e6 * each for each in line["positions"]]
    figure = {"figure": "positions of three streams and the global generators", "unit": "us"}
    yield figure | measuring.spread(positions)


def main() -> None:
    summary = (__doc__ or "").splitlines()[0]
    chosen = measuring.options("training_points", summary, rounds=60)
    megabytes = 1 if chosen.small else MEGABYTES
    rows = figures(max(chosen.rounds, 3), megabytes)
    measuring.tell("training_points", rows, chosen.output)


if __name__ == "__main__":
    sys.exit(main())
