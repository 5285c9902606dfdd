"""What twice itself computes, as a run: canonical bytes, digests, trees, sub-seeds, the checker's findings.

This is the system that the specification beside it is about. Inputs are drawn
from named streams; what the pipeline makes of them is the state. Floats are put together from drawn
bits and only encoded: nothing is computed with one.

twice record pipeline.py:main --seed 5 --set ticks=12 -o a.twice
twice verify a.twice --restores
"""

from __future__ import annotations

import struct
from typing import Any

import numpy as np

import twice
from twice.checker.analyzer import analyze_bytes
from twice.checker.config import AnalysisConfig
from twice.foundation.comparison import differences
from twice.foundation.digests import Algorithm, digest_bytes
from twice.foundation.encoding import decode, encode
from twice.foundation.merkle import rehash, tree
from twice.foundation.seeds import Seed, derive

STATEMENTS = (
    "total = [each for each in {0}]",
    "for each in set({0}): print(each)",
    "stamp = time.time()",
    "value = random.random()",
    "names = os.listdir({0!r})",
    "mark = id({0})",
    "digest = hash(str({0}))",
)


class Values:
    """Draws values of every kind, and chains the digests of their canonical bytes."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng
        self.count = 0
        self.chain = b""

    def step(self, depth: int) -> None:
        encoded = encode(drawn(self.rng, depth))
        again = encode(decode(encoded))
        self.count += 1
        self.chain = digest_bytes(self.chain + encoded + again).raw

    def state(self) -> dict[str, Any]:
        return {"count": self.count, "chain": self.chain}

    def restore(self, state: dict[str, Any]) -> None:
        self.count, self.chain = state["count"], state["chain"]


class Tree:
    """Changes leaves of a tree, hashes what changed anew, and says where the two trees differ."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng
        self.leaves = {f"leaf-{at}": [at, str(at)] for at in range(8)}
        self.root = str(tree(self.leaves).labelled)
        self.parted: list[str] = []

    def step(self) -> None:
        before = {name: list(leaf) for name, leaf in self.leaves.items()}
        changed = [f"leaf-{at}" for at in self.rng.integers(0, 8, size=2).tolist()]
        for name in changed:
            self.leaves[name][0] += int(self.rng.integers(1, 100))
        known, fresh = rehash(tree(before), self.leaves, changed), tree(self.leaves)
        self.root = f"{known.labelled} {known.digest == fresh.digest}"
        self.parted = [each.path for each in differences(before, self.leaves)]

    def state(self) -> dict[str, Any]:
        return {"leaves": self.leaves, "root": self.root, "parted": self.parted}

    def restore(self, state: dict[str, Any]) -> None:
        self.leaves, self.root, self.parted = state["leaves"], state["root"], state["parted"]


class Names:
    """Derives a sub-seed from the one before and a drawn name."""

    def __init__(self, rng: np.random.Generator, master: Seed) -> None:
        self.rng = rng
        self.seed = master

    def step(self) -> None:
        name = "/".join(text(self.rng) for _ in range(int(self.rng.integers(1, 4))))
        self.seed = derive(self.seed, name)

    def state(self) -> dict[str, Any]:
        return {"seed": self.seed.value}

    def restore(self, state: dict[str, Any]) -> None:
        self.seed = Seed(state["seed"])


class Checker:
    """Writes small programs, most of them with mistakes, and has them checked."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng
        self.reader = AnalysisConfig()
        self.index = self.reader.index()
        self.found: list[list[Any]] = []
        self.chain = b""

    def step(self) -> None:
        lines = ["import os", "import random", "import time", ""]
        for at in range(int(self.rng.integers(2, 6))):
            chosen = STATEMENTS[int(self.rng.integers(len(STATEMENTS)))]
            lines += [f"def step_{at}(given):", f"    {chosen.format('given')}", ""]
        looked = analyze_bytes("drawn.py", "\n".join(lines).encode(), "", self.reader, self.index)
        self.found = [[each.rule, each.place.line] for each in looked.found]
        told = [[each.rule, each.place.line, each.message, each.why] for each in looked.found]
        self.chain = digest_bytes(self.chain + encode(told), Algorithm.SHA256).raw

    def state(self) -> dict[str, Any]:
        return {"found": self.found, "chain": self.chain}

    def restore(self, state: dict[str, Any]) -> None:
        self.found, self.chain = state["found"], state["chain"]


def text(rng: np.random.Generator) -> str:
    """Draw a word, some of its letters beyond ASCII."""
    return "".join(chr(point) for point in rng.integers(0x61, 0x17F, size=5).tolist())


def drawn(rng: np.random.Generator, depth: int) -> object:
    """Draw a value: a leaf, or a container of some."""
    kind = int(rng.integers(0, 9 if depth else 5))
    bits = int(rng.integers(0, 2**63))
    if kind == 0:
        return bits << int(rng.integers(0, 200))
    if kind == 1:
        return struct.unpack("<d", struct.pack("<Q", bits))[0]
    if kind == 2:
        return text(rng)
    if kind == 3:
        return bits.to_bytes(8, "little")
    if kind == 4:
        return np.arange(bits % 7, dtype=np.int32) * 3
    many = [drawn(rng, depth - 1) for _ in range(bits % 5)]
    if kind == 5:
        return many
    if kind == 6:
        return tuple(many)
    if kind == 7:
        return {text(rng): each for each in many}
    return {text(rng) for _ in many}


def main(run: twice.Run) -> None:
    """Everything once a tick, each part with a stream of its own."""
    values = run.track("values", Values(run.rng("values")))
    leaves = run.track("tree", Tree(run.rng("tree")))
    names = run.track("names", Names(run.rng("names"), Seed(run.config["master"])))
    checker = run.track("checker", Checker(run.rng("checker")))
    for _ in run.ticks(run.config["ticks"]):
        values.step(run.input("depth", lambda: 3))
        leaves.step()
        names.step()
        checker.step()
