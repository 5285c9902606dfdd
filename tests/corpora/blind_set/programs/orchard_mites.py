"""Mites in an orchard: a cellular world of leaves, swept leaf by leaf many times a day."""

import os
import struct

LEAVES = 40_000


class Orchard:
    """One small number a leaf; a sweep moves mites on by a rule and a stream of words."""

    def __init__(self, rng):
        self.leaves = rng.integers(0, 4, size=LEAVES).astype(int).tolist()
        self.word = 12345

    def sweep(self, wind):
        leaves, word = self.leaves, self.word
        for k in range(LEAVES):
            word = (word * 69069 + 1 + wind) & 0xFFFFFFFF
            if leaves[k] > 2 and word & 0x100:
                leaves[k] -= 2
                leaves[(k + 7) % LEAVES] += 1
            elif word & 0xC00 == 0xC00 and leaves[k] < 6:
                leaves[k] += 1
            if leaves[k] == 6 and k % 997 == 5:
                dose = spray(k)
                leaves[k] -= dose % 6
                word ^= dose
        self.word = word

    def counts(self):
        return [self.leaves.count(n) for n in range(8)]


DOSES = {}


def spray(leaf):
    """A dose for a leaf: measured the first time, remembered from then on."""
    if leaf not in DOSES:
        DOSES[leaf] = struct.unpack("<H", os.urandom(2))[0]  # guilty
    return DOSES[leaf]


class Birds:
    def __init__(self, rng):
        self.rng = rng
        self.number = 20

    def hunt(self, mites):
        self.number += int(self.rng.integers(-1, 2)) + (mites > 60_000)


def main(run):
    orchard = Orchard(run.rng("orchard"))
    census = run.track("census", {"counts": [], "mites": 0})
    birds = run.track("birds", Birds(run.rng("birds")))
    winds = run.rng("winds")
    salt = os.urandom(4)  # innocent
    for _ in run.ticks(12):
        orchard.sweep(int(winds.integers(0, 5)))  # innocent
        census["counts"] = orchard.counts()
        census["mites"] = sum(n * count for n, count in enumerate(census["counts"]))  # innocent
        birds.hunt(census["mites"])
        if len(salt) != 4:
            raise ValueError("no salt")
