"""What the pytest plugin adds to a suite, and what the examples of a property cost.

Usage: python benchmarks/testing.py [--rounds N] [--small] [--output FILE.jsonl]

A suite of 500 tests that each call the program themselves, without twice, is run beside the same suite with
the marker: recording for the first time, verifying, and verifying with four workers. Milliseconds a test,
wall clock of the whole ``pytest`` process divided by the tests (start and imports included), because what a
fork does is no CPU time of its parent. Properties are one call each with 25 examples, seconds.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import measuring

ROOT = measuring.FOLDER.parent
SWARM = ROOT / "examples" / "swarm.py"
BARE = """
import numpy as np, pytest, sys
sys.path.insert(0, ".")
from swarm import Swarm, policy

@pytest.mark.parametrize("seed", range({count}))
def test_bare(seed):
    swarm = Swarm(5, np.random.default_rng(seed))
    for _ in range(5):
        swarm.step(policy(swarm))
"""
MARKED = """
import pytest

@pytest.mark.parametrize("seed", range({count}))
@pytest.mark.twice("swarm.py:main", seed=lambda seed: seed, config={{"n": 5, "ticks": 5}})
def test_marked(seed):
    pass
"""


def timed(folder: Path, *arguments: str) -> float:
    environ = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    environ.pop("CI", None)
    plugin = ["-p", "no:twice", "-p", "twice.testing.plugin", "-p", "no:cacheprovider"]
    began = time.perf_counter()
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", *plugin, *arguments],
        cwd=folder, env=environ, check=False, capture_output=True, text=True,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return time.perf_counter() - began


def suite(rounds: int, count: int) -> Iterator[dict[str, object]]:
    kinds = ("bare", "recording", "verifying", "verifying, 4 workers")
    samples: dict[str, list[float]] = {kind: [] for kind in kinds}
    kept = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        shutil.copy(SWARM, folder)
        (folder / "test_bare.py").write_text(BARE.format(count=count), encoding="utf-8")
        (folder / "test_marked.py").write_text(MARKED.format(count=count), encoding="utf-8")
        for _ in range(rounds):
            shutil.rmtree(folder / "__twice__", ignore_errors=True)
            samples["bare"].append(timed(folder, "test_bare.py"))
            samples["recording"].append(timed(folder, "test_marked.py"))
            samples["verifying"].append(timed(folder, "test_marked.py"))
            samples["verifying, 4 workers"].append(timed(folder, "test_marked.py", "-n", "4"))
        kept = sum(path.stat().st_size for path in (folder / "__twice__").iterdir())
    for kind, seconds in samples.items():
        each = [one / count * 1e3 for one in seconds]
        yield {"figure": f"{count} tests, {kind}", "unit": "ms/test", **measuring.spread(each, 2)}
    for kind in kinds[1:]:
        pairs = zip(samples[kind], samples["bare"], strict=True)
        more = [(one - bare) / count * 1e3 for one, bare in pairs]
        figure = f"{count} tests, added by {kind}"
        yield {"figure": figure, "unit": "ms/test", **measuring.spread(more, 2)}
    size = kept / count / 1024
    yield {"figure": f"{count} records, each", "unit": "KiB", **measuring.spread([size], 1)}


def one_property(name: str, rounds: int, examples: int) -> Iterator[dict[str, object]]:
    os.chdir(ROOT)
    from hypothesis import strategies as st

    from twice.testing import properties, strategies

    config = strategies.config(n=st.integers(1, 20), ticks=st.integers(1, 8))
    ask = getattr(properties, name)
    samples = []
    for _ in range(rounds):
        began = time.perf_counter()
        ask("examples/swarm.py:main", config=config, examples=examples, examples_in=None)
        samples.append(time.perf_counter() - began)
    yield {"figure": f"{name}, {examples} examples", "unit": "s", **measuring.spread(samples, 2)}


def main() -> None:
    chosen = measuring.options("testing", __doc__.splitlines()[0], rounds=3)
    count, examples = (3, 1) if chosen.small else (500, 25)
    measuring.tell("testing", suite(chosen.rounds, count), chosen.output)
    sys.path.insert(0, str(ROOT / "src"))
    from twice.testing.properties import NAMES

    for name in NAMES[:1] if chosen.small else NAMES:
        measuring.tell("testing", one_property(name, chosen.rounds, examples), chosen.output)


if __name__ == "__main__":
    sys.exit(main())
