"""A sweep with planted crashes: are the causes found, and what does a run cost; and an interval that is looked at often.

Usage: python benchmarks/sweep.py [--rounds N] [--small] [--output FILE.jsonl]

1,000 seeds of a program that crashes under 37 of them, for one of four causes: two lines that raise one type with other
messages, another type, and an exit code. A run counts as grouped wrongly when it is in another group than those with
its cause. The same command is given again, with all records there. CPU time, of the processes of the runs too.

Of the interval: the samples of 1,000 values whose true mean was outside after any value, for three shapes; of the ordinary
interval for the normal shape, too; and how much wider it is than that at a fixed size.
"""

from __future__ import annotations

import json
import math
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

import measuring

from twice.foundation.distributions import student_t_quantile
from twice.foundation.seeds import Seed, derive_in
from twice.runs.confidence_sequence import LEAST, MeanSequence

SEED = 5
ALPHA = 0.05
PROGRAM = """CRASHES = {crashes}

def check(kind):
    if kind == 0:
        raise ValueError(f"kind {{kind}}")  # line 5
    return kind

def main(run):
    kind = check(CRASHES.get(run.seed.value))
    if kind == 1:
        {{}}[str(run.seed)]  # line 11
    if kind == 2:
        raise SystemExit(3)
    if kind == 3:
        raise ValueError(f"seed {{run.seed}}")  # line 15
"""
PLACES = {("raised", 5): 0, ("raised", 11): 1, ("exited", 0): 2, ("raised", 15): 3}
SHAPES: dict[str, Callable[[Random], float]] = {
    "normal": lambda random: random.gauss(0, 1),
    "uniform": lambda random: random.uniform(-1, 1),
    "exponential": lambda random: random.expovariate(1) - 1,
}


def sweep(folder: Path, runs: int) -> tuple[dict[str, object], float]:
    """Run the command; return its document, and the CPU seconds of it and of all its processes."""
    command = [sys.executable, "-m", "twice", "sweep", "program.py:main", "--seeds", str(runs)]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [*command, "--seed", str(SEED), "--jobs", "2", "-o", "out", "--json"],
        cwd=folder,
        stdout=subprocess.PIPE,
        check=False,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    told: dict[str, object] = json.loads(done.stdout)
    return told, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def plant(runs: int, crashes: int) -> dict[int, int]:
    """Choose the seeds that crash, each for one of four causes."""
    chosen = Random(SEED).sample(range(runs), crashes)
    seeds = [derive_in(Seed(SEED), "sweep", at).value for at in chosen]
    return {seed: at % 4 for at, seed in enumerate(seeds)}


def sweep_figures(*, small: bool) -> Iterator[dict[str, object]]:
    """Yield the figures of a sweep, and of the same command again."""
    runs, planted = (8, 4) if small else (1000, 37)
    crashes = plant(runs, planted)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "program.py").write_text(PROGRAM.format(crashes=crashes))
        told, spent_s = sweep(folder, runs)
        again, again_s = sweep(folder, runs)
    kinds = [*crashes.values()]
    causes: list[dict[str, object]] = told["causes"]  # type: ignore[assignment]
    wrong = 0
    for cause in causes:
        kind = PLACES.get((str(cause["kind"]), int(str(cause["line"]))))
        wrong += (
            abs(int(str(cause["runs"])) - kinds.count(kind))
            if kind is not None
            else int(str(cause["runs"]))
        )
    what = f"{runs:,} seeds, {planted} planted crashes"
    yield {"figure": f"{what}: crashes found", "unit": "runs"} | measuring.spread([told["failed"]])  # type: ignore[list-item]
    yield {"figure": f"{what}: causes, of 4", "unit": "groups"} | measuring.spread([len(causes)])
    yield {"figure": f"{what}: grouped wrongly", "unit": "runs"} | measuring.spread([wrong])
    yield {"figure": f"{what}: CPU of a run", "unit": "ms"} | measuring.spread(
        [spent_s / runs * 1e3], 1
    )
    assert again["made"] == 0
    assert again["causes"] == causes
    yield {
        "figure": f"{what}: the same command again, CPU of a record",
        "unit": "ms",
    } | measuring.spread([again_s / runs * 1e3], 2)


def interval_figures(*, small: bool) -> Iterator[dict[str, object]]:
    """Yield how often the mean was ever outside of an interval, and the widths."""
    samples, looks = (20, 100) if small else (2000, 1000)
    quantiles = {n: student_t_quantile(ALPHA / 2, n - 1) for n in range(LEAST, looks + 1)}
    for shape, draw in SHAPES.items():
        missed = peeked = 0
        for seed in range(samples):
            random, sequence = Random(seed), MeanSequence()
            has_missed = has_peeked = False
            for n in range(1, looks + 1):
                sequence.add(draw(random))
                if n < LEAST:
                    continue
                has_missed |= abs(sequence.mean) > sequence.half_width(ALPHA)
                error = math.sqrt(sequence.squares / (n - 1) / n)
                has_peeked |= abs(sequence.mean) > quantiles[n] * error
            missed, peeked = missed + has_missed, peeked + has_peeked
        what = f"{shape} values, looked at {looks:,} times at 95 %: missed"
        yield {"figure": what, "unit": "%"} | measuring.spread([100 * missed / samples], 1)
        yield {"figure": f"{what} by the ordinary interval", "unit": "%"} | measuring.spread(
            [100 * peeked / samples], 1
        )
    for n in (30, 100, 1000):
        sequence = MeanSequence(n, 0.0, float(n - 1))
        wider = sequence.half_width(ALPHA) / (student_t_quantile(ALPHA / 2, n - 1) / math.sqrt(n))
        yield {"figure": f"width at {n:,} values", "unit": "x ordinary"} | measuring.spread(
            [wider], 2
        )


def figures(*, small: bool) -> Iterator[dict[str, object]]:
    """Yield all figures."""
    yield from interval_figures(small=small)
    yield from sweep_figures(small=small)


def main() -> None:
    """Measure and print."""
    chosen = measuring.options("sweep", __doc__.splitlines()[0], rounds=1)
    measuring.tell("sweep", figures(small=chosen.small), chosen.output)


if __name__ == "__main__":
    main()
