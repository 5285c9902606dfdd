"""What the compiled twin saves: the same work with it, with Python alone, and beside msgspec, in one run.

Usage: python benchmarks/compiled.py [--rounds N] [--small] [--output FILE.jsonl]

The encoders alternate in one process; ratios are taken within a round. Programs are recorded by turns with
``TWICE_PURE=1`` and without, each in a fresh process: the tick of ``overhead.py`` (4 components, 40 scalars, 32 KB, no
snapshots), the declared effect of ``effects.py``, and steps of Gymnasium where it is installed. Times are CPU time. msgspec encodes
alone, without a digest, and does not sort its keys.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path

import encoding
import measuring
import msgspec
import overhead
from blake3 import blake3

import twice
from twice.foundation.compiled import load_twin
from twice.foundation.encoding.encoder import PythonEncoder, make_compiled_encoder
from twice.foundation.encoding.registry import registry
from twice.recorder.cadence import parse_cadence

Samples = dict[str, list[float]]


def time_call(run: Callable[[object], object], value: object, calls: int) -> float:
    start = time.thread_time()
    for _ in range(calls):
        run(value)
    return (time.thread_time() - start) / calls * 1e6


def compare_encoders(rounds: int, *, small: bool) -> Iterator[dict[str, object]]:
    compiled = make_compiled_encoder(registry, load_twin()[0])
    encoders = {
        "compiled": compiled.join,
        "compiled, with digest": lambda value: blake3(compiled.join(value)).digest(),
        "Python": PythonEncoder(registry).join,
        "msgspec": msgspec.msgpack.encode,
    }
    states = {"72 nodes": (encoding.small(), 2_000)}
    if not small:
        states["150,001 nodes"] = (encoding.entities(), 5)
    for state, (value, calls) in states.items():
        samples: Samples = defaultdict(list)
        for _ in range(rounds):
            for name, run in encoders.items():
                samples[name].append(
                    time_call(run, value, 1 if name == "Python" and calls == 5 else calls)
                )
        yield from tell(f"encoding {state}", samples, "us")


def tell(what: str, samples: Samples, unit: str) -> Iterator[dict[str, object]]:
    """Give each figure, and its ratios to Python and to msgspec, within rounds."""
    for name, values in samples.items():
        yield {"figure": f"{what}: {name}", "unit": unit, **measuring.spread(values)}
    for name in samples.keys() - {"compiled", "compiled, with digest"}:
        for ours in sorted(samples.keys() - {"Python", "msgspec"}):
            ratios = [a / b for a, b in zip(samples[ours], samples[name], strict=True)]
            yield {"figure": f"{what}: {ours} to {name}", "unit": "x", **measuring.spread(ratios)}


def record_both(program: str, rounds: int, config: dict[str, object]) -> dict[str, Samples]:
    """Record a program by turns with the twin and without; for each of its figures the samples of both."""
    found: dict[str, Samples] = defaultdict(lambda: defaultdict(list))
    for _ in range(rounds):
        for name, pure in (("compiled", ""), ("Python", "1")):
            os.environ["TWICE_PURE"] = pure
            with tempfile.TemporaryDirectory() as folder:
                to = Path(folder, "measured.jsonl")
                policies = {"cadence": parse_cadence("none")}
                given = {**config, "to": str(to)}
                twice.record(
                    program, seed=1, config=given, out=Path(folder, "a.twice"), **policies
                ).close()
                for line in measuring.read_lines(to):
                    for figure, value in line.items():
                        found[figure][name].append(value)
    return found


def compare_recordings(rounds: int, *, small: bool) -> Iterator[dict[str, object]]:
    ticking = {**overhead.BASE, "rounds": 3, "ticks": 20 if small else 2_000}
    found = record_both(f"{measuring.PROGRAMS / 'ticking.py'}:main", rounds, ticking)
    yield from tell("tick, 4 components, 40 scalars, 32 KB, added", found["added"], "us")
    reading = {
        "rounds": 1,
        "burst": 100 if small else 10_000,
        "sustained": 1_000 if small else 100_000,
    }
    found = record_both(f"{measuring.PROGRAMS / 'reads.py'}:main", rounds, reading)
    yield from tell("@effect call, burst", found["@effect call, burst"], "ns")
    for env in ("CartPole-v1", "Ant-v5") if find_spec("gymnasium") and find_spec("mujoco") else ():
        stepping = {"env": env, "rounds": 3, "steps": 50 if small else 1_000}
        found = record_both(f"{measuring.PROGRAMS / 'gymnasium_steps.py'}:main", rounds, stepping)
        both = {
            name: [b / a for a, b in zip(found["bare"][name], values, strict=True)]
            for name, values in found["recorded"].items()
        }
        yield from tell(f"{env}, recorded to bare", both, "x")


def main() -> None:
    chosen = measuring.options("compiled", __doc__.splitlines()[0], rounds=7)
    _, why_not = load_twin()
    if why_not:
        sys.exit(f"The compiled twin is not in force: {why_not}. Install it: pip install ./native")

    def figures() -> Iterator[dict[str, object]]:
        yield from compare_encoders(chosen.rounds, small=chosen.small)
        yield from compare_recordings(chosen.rounds, small=chosen.small)

    measuring.tell("compiled", figures(), chosen.output)


if __name__ == "__main__":
    sys.exit(main())
