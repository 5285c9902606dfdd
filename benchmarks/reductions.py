"""What reductions of a fixed order cost beside numpy's and ``math.fsum``, and how far from the exact value each is.

Usage: python benchmarks/reductions.py [--rounds N] [--small] [--output FILE.jsonl]

Each round times the ways of a task one after the other, so that a ratio is of neighbours in time. Times are CPU seconds of
the thread: set OPENBLAS_NUM_THREADS=1, or a BLAS with threads looks faster than it is. The errors are in units of the last
place of the exact value, for float64, over sums that cancel to about a thousandth of their terms.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Iterator
from fractions import Fraction

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy is loaded

import measuring
import numpy as np

from twice import numeric

METHODS = ("pairwise", "sequential", "neumaier", "exact")
Ways = dict[str, Callable[[], object]]


def sums(count: int) -> Ways:
    x = np.random.default_rng(1).standard_normal(count)
    ours: Ways = {each: lambda each=each: numeric.sum(x, method=each) for each in METHODS}
    return {"np.sum": lambda: np.sum(x), **ours, "math.fsum": lambda: math.fsum(x)}


def rows(side: int) -> Ways:
    x = np.random.default_rng(2).standard_normal((side, side))
    ours: Ways = {each: lambda each=each: numeric.sum(x, 1, each) for each in METHODS}
    return {"np.sum": lambda: np.sum(x, axis=1), **ours}


def dots(count: int) -> Ways:
    a, b = np.random.default_rng(3).standard_normal((2, count))
    ours: Ways = {each: lambda each=each: numeric.dot(a, b, each) for each in METHODS}
    return {"np.dot": lambda: np.dot(a, b), **ours}


def products(side: int, methods: tuple[str, ...]) -> Ways:
    a, b = np.random.default_rng(4).standard_normal((2, side, side))
    ours: Ways = {each: lambda each=each: numeric.matmul(a, b, each) for each in methods}
    return {"np.matmul": lambda: np.matmul(a, b), **ours}


def scattered(count: int, size: int) -> Ways:
    draw = np.random.default_rng(5)
    index, values, target = (
        draw.integers(0, size, count),
        draw.standard_normal(count),
        np.zeros(size),
    )
    edges = np.arange(size + 1)
    return {
        "np.add.at": lambda: np.add.at(target.copy(), index, values),
        "np.bincount": lambda: np.bincount(index, values, size),
        "scatter_add": lambda: numeric.scatter_add(target, index, values),
        "np.histogram": lambda: np.histogram(index, edges, weights=values),
        "histogram": lambda: numeric.histogram(index, edges, values),
    }


def orders(count: int) -> Ways:
    x = np.random.default_rng(6).standard_normal(count)
    return {"np.argsort": lambda: np.argsort(x), "argsort": lambda: numeric.argsort(x)}


def compare(task: str, ways: Ways, rounds: int) -> Iterator[dict[str, object]]:
    """Yield the time of the first way, and the ratio to it of each of the others."""
    samples: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(rounds):
        for name, call in ways.items():
            samples[name].append(cpu_seconds(call))
    base, *others = samples
    yield {
        "figure": f"{task}: {base}",
        "unit": "us",
        **measuring.spread([1e6 * each for each in samples[base]]),
    }
    for name in others:
        ratios = [one / other for one, other in zip(samples[name], samples[base], strict=True)]
        yield {"figure": f"{task}: {name} to {base}", "unit": "x", **measuring.spread(ratios, 2)}
    if "math.fsum" in samples:
        pairs = zip(samples["exact"], samples["math.fsum"], strict=True)
        ratios = [one / other for one, other in pairs]
        yield {"figure": f"{task}: exact to math.fsum", "unit": "x", **measuring.spread(ratios)}


def cpu_seconds(call: Callable[[], object]) -> float:
    """Time enough calls to see them, the first one apart."""
    begun = time.thread_time()
    call()
    calls = max(1, int(0.01 / max(1e-6, time.thread_time() - begun)))
    begun = time.thread_time()
    for _ in range(calls):
        call()
    return (time.thread_time() - begun) / calls


def errors(count: int, rounds: int) -> Iterator[dict[str, object]]:
    """Yield the error of each way in units of the last place of the exact sum, over other numbers each round."""
    found: dict[str, list[float]] = {}
    for seed in range(rounds):
        draw = np.random.default_rng(100 + seed)
        x = draw.standard_normal(count)
        x[1::2] = -x[::2] * (1 + 1e-3 * x[1::2])
        x = draw.permutation(x)
        whole = sum(map(Fraction, x.tolist()))
        ways = {"np.sum": np.sum(x)} | {each: numeric.sum(x, method=each) for each in METHODS}
        for name, value in ways.items():
            distance = abs(Fraction(float(value)) - whole) / Fraction(math.ulp(float(whole)))
            found.setdefault(name, []).append(float(distance))
    for name, distances in found.items():
        yield {
            "figure": f"error of a sum of {count:,}: {name}",
            "unit": "ulp",
            **measuring.spread(distances, 2),
        }


def main() -> None:
    options = measuring.options("reductions", __doc__ or "", rounds=9)
    scale = 100 if options.small else 1
    tasks = {
        "sum of 1,000": sums(1000),
        "sum of 1,000,000": sums(1_000_000 // scale),
        "sums of 1,000 rows of 1,000": rows(1000 // scale),
        "dot of 1,000,000": dots(1_000_000 // scale),
        "matmul of 64 x 64": products(64, METHODS),
        "matmul of 256 x 256": products(256 // scale, METHODS[:3]),
        "1,000,000 values in 100 groups": scattered(1_000_000 // scale, 100),
        "1,000,000 values in 100,000 groups": scattered(1_000_000 // scale, 100_000 // scale),
        "order of 1,000,000": orders(1_000_000 // scale),
    }
    figures = [
        figure for task, ways in tasks.items() for figure in compare(task, ways, options.rounds)
    ]
    figures += errors(100_000 // scale, options.rounds)
    measuring.tell("reductions", figures, options.output)


if __name__ == "__main__":
    main()
