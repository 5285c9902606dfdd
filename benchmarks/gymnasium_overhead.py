"""What recording adds to a step of a Gymnasium environment, and how fast a replay is.

Usage: python benchmarks/gymnasium_overhead.py [--rounds N] [--small] [--output FILE.jsonl]

Bare and recorded steps alternate in one process, CPU seconds, actions chosen beforehand; a recorded
step has a compare-point for the tick, one for the outcome, one input, and a snapshot every 100
ticks. Recording and verifying are whole commands, wall-clock seconds, alternating: start of the
processes and imports included, without the bare steps.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import measuring

import twice

ENVIRONMENTS = ("CartPole-v1", "HalfCheetah-v5", "Ant-v5", "Humanoid-v5")
PROGRAM = f"{measuring.PROGRAMS / 'gymnasium_steps.py'}:main"
ACTING = f"{measuring.FOLDER.parent / 'examples' / 'ant.py'}:main"


def per_step(env: str, rounds: int, steps: int) -> Iterator[dict[str, object]]:
    with tempfile.TemporaryDirectory() as folder:
        to = Path(folder, "measured.jsonl")
        config = {"env": env, "rounds": rounds, "steps": steps, "to": str(to)}
        twice.record(PROGRAM, seed=1, config=config, out=Path(folder, "a.twice")).close()
        lines = measuring.read_lines(to)
    bare = [line["bare"] / steps * 1e6 for line in lines]
    recorded = [line["recorded"] / steps * 1e6 for line in lines]
    ratios = [b / a for a, b in zip(bare, recorded, strict=True)]
    yield {"figure": f"{env}, bare", "unit": "us/step", **measuring.spread(bare, 1)}
    yield {"figure": f"{env}, recorded", "unit": "us/step", **measuring.spread(recorded, 1)}
    yield {"figure": f"{env}, recorded to bare", "unit": "ratio", **measuring.spread(ratios, 2)}


def replay(env: str, rounds: int, steps: int) -> Iterator[dict[str, object]]:
    recording, verifying = [], []
    with tempfile.TemporaryDirectory() as folder:
        for number in range(rounds):
            out = Path(folder, f"{number}.twice")
            began = time.perf_counter()
            twice.record(ACTING, seed=1, config={"env": env, "steps": steps}, out=out).close()
            between = time.perf_counter()
            verification = twice.verify(out)
            recording.append(between - began)
            verifying.append(time.perf_counter() - between)
            assert verification.to_json()["result"] == "PASS", "a replay that fails is no figure"
    ratios = [b / a for a, b in zip(recording, verifying, strict=True)]
    what = f"{env}, {steps} steps, verifying to recording"
    yield {"figure": what, "unit": "ratio", **measuring.spread(ratios, 2)}


def main() -> None:
    chosen = measuring.options("gymnasium", __doc__.splitlines()[0], rounds=7)
    steps = 20 if chosen.small else 2000
    for env in ENVIRONMENTS:
        measuring.tell("gymnasium_overhead", per_step(env, chosen.rounds, steps), chosen.output)
    for env in ENVIRONMENTS:
        measuring.tell(
            "gymnasium_overhead", replay(env, min(chosen.rounds, 3), steps), chosen.output
        )


if __name__ == "__main__":
    sys.exit(main())
