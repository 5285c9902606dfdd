"""What one governed read of the world costs, recorded and served.

Usage: python benchmarks/effects.py [--rounds N] [--small] [--output FILE.jsonl]

A real program is recorded in a process of its own and verified in another; inside, it times bursts
of 10 000 reads and a sustained million, which goes through to the record's file. Figures are CPU
nanoseconds above the raw clock for clock reads, and in all for entropy and declared effects, where
the plain call stands beside. Goal: a recorded clock read costs at most 300 ns above the raw clock.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import measuring

import twice


def figures(rounds: int, *, burst: int, sustained: int) -> Iterator[dict[str, object]]:
    with tempfile.TemporaryDirectory() as folder:
        to, record = Path(folder, "measured.jsonl"), Path(folder, "reads.twice")
        config = {"rounds": rounds, "burst": burst, "sustained": sustained, "to": str(to)}
        program = f"{measuring.PROGRAMS / 'reads.py'}:main"
        ignored = ((to.name, "ignore"),)  # each run measures other times
        twice.record(program, seed=1, config=config, out=record, file_policies=ignored).close()
        kept = Path(folder, "kept")
        assert twice.verify(record, keep=kept).result == "PASS", "what is measured replays"
        recorded = measuring.read_lines(to)
        served = measuring.read_lines(kept / to.relative_to("/"))
    for mode, taken in (("recorded", recorded), ("served", served)):
        for name in taken[0]:
            samples = [line[name] for line in taken]
            yield {"figure": f"{name}, {mode}", "unit": "ns"} | measuring.spread(samples, 0)


def main() -> None:
    chosen = measuring.options("effects", __doc__.splitlines()[0], rounds=5)
    burst, sustained = (100, 5_000) if chosen.small else (10_000, 1_000_000)
    found = figures(chosen.rounds, burst=burst, sustained=sustained)
    measuring.tell("effects", found, chosen.output)


if __name__ == "__main__":
    sys.exit(main())
