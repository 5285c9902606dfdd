"""Canonical form against the encoders one might use instead, side by side in one run.

Usage: python benchmarks/encoding.py [--rounds N] [--output FILE.jsonl]

Times encode + digest (blake3, 16 bytes) of four states: small (72 nodes, what a tick may cost),
entities (150 001 nodes), mixed (2 221 nodes with enum, dataclass and generator states, and ten 1 MB
arrays), arrays (those ten alone). Every round times every encoder once, in CPU time of this thread;
the ratio to twice is taken within a round and reported as median with the lowest and the highest.

What the peers do not do: none of them keeps all distinct states apart (lists from tuples, 1 from 1.0
as a key, NaN from null, one enum from another), which is why twice has a form of its own. An encoder
that refuses a state says so. Arrays reach msgspec and cbor2 through a hook as dtype, shape and bytes;
orjson writes them as decimal text and drops their dtype.

twice is the encoder that is in force; ``compiled.py`` compares both.
"""

from __future__ import annotations

import argparse
import dataclasses
import enum
import importlib.metadata
import json
import pickle
import random
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

import cbor2
import measuring
import msgspec
import numpy as np
import orjson
import rfc8785
from blake3 import blake3

from twice.foundation.encoding import encode_parts

RESULTS = Path(__file__).parent / "results" / "encoding.jsonl"
CALLS = {"small": 400, "entities": 1, "mixed": 3, "arrays": 5}


class Kind(enum.Enum):
    ORC = 1
    ELF = 2


@dataclasses.dataclass
class Weather:
    temperature: float
    wind: float
    label: str
    day: int


def small() -> dict[str, object]:
    """Build a flat record of 50 fields in shuffled order: 72 values."""
    draw = random.Random(1)
    state: dict[str, object] = {f"count_{i}": draw.randrange(-(10**6), 10**6) for i in range(15)}
    state |= {f"pos_{i}": draw.uniform(-1000, 1000) for i in range(15)}
    state |= {f"name_{i}": "".join(draw.choices("abcdefgh ", k=12)) for i in range(8)}
    state |= {f"flag_{i}": bool(i & 1) for i in range(4)} | {"opt_a": None, "opt_b": None}
    state |= {f"list_{i}": [draw.random() for _ in range(4)] for i in range(3)}
    state |= {f"sub_{i}": {"x": draw.random(), "y": draw.random(), "n": i} for i in range(3)}
    items = list(state.items())
    draw.shuffle(items)
    return dict(items)


def entities(count: int = 10_000) -> list[dict[str, object]]:
    """Build a list of dicts of one shape: 15 values each."""
    draw = random.Random(2)
    return [
        {
            "id": i, "x": draw.uniform(-1e3, 1e3), "y": draw.uniform(-1e3, 1e3), "z": draw.uniform(0, 10),
            "vx": draw.gauss(0, 1), "vy": draw.gauss(0, 1), "vz": draw.gauss(0, 0.1),
            "hp": draw.randrange(1000), "kind": draw.choice(["orc", "elf", "human", "troll"]),
            "name": f"entity-{i:05d}", "alive": draw.random() < 0.9,
            "tags": [f"t{draw.randrange(50)}", f"g{draw.randrange(8)}"],
        }
        for i in range(count)
    ]  # fmt: skip


def arrays() -> dict[str, np.ndarray]:
    """Ten arrays of 1 MB."""
    draw = np.random.default_rng(9)
    out = {f"f{i}": draw.standard_normal((512, 512)).astype(np.float32) for i in range(5)}
    out |= {f"d{i}": draw.standard_normal(131_072) for i in range(3)}
    return out | {f"i{i}": draw.integers(0, 1000, (512, 512), dtype=np.int32) for i in range(2)}


def mixed() -> dict[str, object]:
    """Both kinds of generator state, an enum, a dataclass, bytes, a tuple, 100 entities, arrays."""
    return {
        "python": random.Random(3).getstate(),
        "numpy": np.random.default_rng(5).bit_generator.state,
        "kind": Kind.ORC, "weather": Weather(1.5, -0.0, "fog", 7), "blob": bytes(range(256)),
        "pair": (1, 2.0, "x"), "small": small(), "entities": entities(100), "arrays": arrays(),
    }  # fmt: skip


def _array_hook(value: object) -> object:
    if isinstance(value, np.ndarray):
        return [value.dtype.str, list(value.shape), value.tobytes()]
    raise TypeError(f"no form for {type(value)}")


def twice(state: object) -> bytes:
    parts = encode_parts(state)
    if len(parts) == 1:
        return blake3(parts[0]).digest(16)
    hasher = blake3()
    for part in parts:
        hasher.update(part)
    return hasher.digest(16)


def encoders() -> dict[str, Callable[[object], bytes]]:
    pack = msgspec.msgpack.Encoder(order="sorted", enc_hook=_array_hook).encode
    text = msgspec.json.Encoder(order="sorted").encode
    sort = orjson.OPT_SORT_KEYS | orjson.OPT_SERIALIZE_NUMPY

    def cbor_hook(encoder: object, value: object) -> None:
        encoder.encode(_array_hook(value))

    return {
        "twice": twice,
        "msgspec msgpack sorted": lambda s: blake3(pack(s)).digest(16),
        "msgspec json sorted": lambda s: blake3(text(s)).digest(16),
        "orjson sorted": lambda s: blake3(orjson.dumps(s, option=sort)).digest(16),
        "cbor2 canonical": lambda s: blake3(
            cbor2.dumps(s, canonical=True, default=cbor_hook)
        ).digest(16),
        "rfc8785": lambda s: blake3(rfc8785.dumps(s)).digest(16),
        "pickle 5": lambda s: blake3(pickle.dumps(s, 5)).digest(16),
    }


def refusal(run: Callable[[object], bytes], state: object) -> str | None:
    try:
        run(state)
    except Exception as error:
        return f"{type(error).__name__}: {error}".splitlines()[0][:60]
    return None


def seconds(run: Callable[[object], bytes], state: object, calls: int) -> float:
    start = time.thread_time()
    for _ in range(calls):
        run(state)
    return (time.thread_time() - start) / calls


def measure(name: str, state: object, rounds: int) -> list[dict[str, object]]:
    refused = {label: refusal(run, state) for label, run in encoders().items()}
    running = {label: run for label, run in encoders().items() if refused[label] is None}
    samples: dict[str, list[float]] = {label: [] for label in running}
    for _ in range(rounds):
        for label, run in running.items():
            samples[label].append(seconds(run, state, CALLS[name]))
    lines: list[dict[str, object]] = []
    for label, reason in refused.items():
        line: dict[str, object] = {"state": name, "encoder": label}
        if reason is not None:
            lines.append(line | {"refuses": reason})
            continue
        ratios = [s / t for s, t in zip(samples[label], samples["twice"], strict=True)]
        lines.append(
            line
            | {
                "cpu_us_median": round(statistics.median(samples[label]) * 1e6, 2),
                "cpu_us_best": round(min(samples[label]) * 1e6, 2),
                "to_twice_median": round(statistics.median(ratios), 3),
                "to_twice_lowest": round(min(ratios), 3),
                "to_twice_highest": round(max(ratios), 3),
                "rounds": rounds,
            }
        )
    return lines


def conditions() -> dict[str, object]:
    """Return the conditions that the figures depend on: machine, Python, commit, versions."""
    peers = ("blake3", "cbor2", "msgspec", "numpy", "orjson", "rfc8785")
    versions = {peer: importlib.metadata.version(peer) for peer in peers}
    return measuring.conditions() | {"versions": versions}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--small", action="store_true", help="quick and meaningless: for tests")
    parser.add_argument("--output", type=Path, default=RESULTS)
    chosen = parser.parse_args()
    states = {"small": small(), "entities": entities(), "mixed": mixed(), "arrays": arrays()}
    rounds = max(chosen.rounds, 5)
    if chosen.small:
        states, rounds = {"small": small()}, 1
    where = conditions()
    print(f"{where['machine']}, Python {where['python']}, {where['commit']}")
    lines = []
    for name, state in states.items():
        print(f"\n{name:24}{'us':>12}{'x twice':>10}   lowest..highest")
        for line in measure(name, state, rounds):
            lines.append({"benchmark": "encoding"} | line | where)
            if "refuses" in line:
                print(f"  {line['encoder']:22}{'refuses':>12}   {line['refuses']}")
                continue
            print(
                f"  {line['encoder']:22}{line['cpu_us_median']:12}{line['to_twice_median']:10}"
                f"   {line['to_twice_lowest']}..{line['to_twice_highest']}"
            )
    chosen.output.parent.mkdir(parents=True, exist_ok=True)
    with chosen.output.open("a", encoding="utf-8") as out:
        out.writelines(json.dumps(line) + "\n" for line in lines)


if __name__ == "__main__":
    sys.exit(main())
