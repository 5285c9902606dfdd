"""How fast a record is verified, beside how fast it was made.

Usage: python benchmarks/replaying.py [--rounds N] [--small] [--output FILE.jsonl]

Each round records and verifies once, each in a fresh process. The figure is recording time over
verifying time, start of the processes included: 1 or more is the goal. Times are CPU seconds of this
process and its children, so that the figure does not measure the neighbours.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import measuring

import twice

CASES = {
    "swarm of 1000, 5000 ticks": (
        measuring.FOLDER.parent / "examples" / "swarm.py", {"n": 1000, "ticks": 5_000},
    ),
    "one counter, 50000 ticks": (measuring.PROGRAMS / "counting.py", {"ticks": 50_000}),
}  # fmt: skip


def cpu_seconds() -> float:
    """CPU time so far, of this process and of the children that it waited for."""
    return sum(os.times()[:4])


def one_round(program: str, config: dict[str, int]) -> tuple[float, float]:
    """Record once and verify once: CPU seconds of each."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "run.twice")
        begun = cpu_seconds()
        twice.record(program, seed=1, config=config, out=out).close()
        recorded = cpu_seconds()
        statement = twice.verify(out)
        verified = cpu_seconds()
    assert statement.result == "PASS", "what is measured replays"
    return recorded - begun, verified - recorded


def figures(rounds: int, *, ticks: int | None) -> Iterator[dict[str, object]]:
    for name, (path, settings) in CASES.items():
        config = settings if ticks is None else {**settings, "ticks": ticks}
        taken = [one_round(f"{path}:main", config) for _ in range(rounds)]
        ratios = [recording / verifying for recording, verifying in taken]
        verified = [verifying for _, verifying in taken]
        yield {"figure": f"{name}: verify against record", "unit": "x"} | measuring.spread(ratios)
        yield {"figure": f"{name}: verify", "unit": "s"} | measuring.spread(verified)


def main() -> None:
    chosen = measuring.options("replaying", __doc__.splitlines()[0], rounds=5)
    found = figures(chosen.rounds, ticks=5 if chosen.small else None)
    measuring.tell("replaying", found, chosen.output)


if __name__ == "__main__":
    sys.exit(main())
