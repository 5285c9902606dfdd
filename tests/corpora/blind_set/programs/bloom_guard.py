"""A gate before a database: a Bloom filter of keys, most of them numbers, some of them names."""

import zlib

BITS = 1 << 18
BATCH = 50_000


class Filter:
    """Two probes a key."""

    def __init__(self):
        self.bits = bytearray(BITS)
        self.filled = 0

    def probe(self, key):
        first = hash(key) & (BITS - 1)  # guilty
        second = (first * 0x9E37 + 0x79B9) & (BITS - 1)
        return first, second

    def add(self, key):
        for at in self.probe(key):
            if not self.bits[at]:
                self.bits[at] = 1
                self.filled += 1

    def __contains__(self, key):
        return all(self.bits[at] for at in self.probe(key))


class Database:
    def __init__(self):
        self.reads = 0
        self.wasted = 0

    def read(self, key, exists):
        self.reads += 1
        self.wasted += not exists


def batch(rng, tick):
    """Keys of one tick. In the third a customer with names instead of numbers joins."""
    start = int(rng.integers(1_000_000))
    for k in range(BATCH):
        if tick == 2 and k == 37_211:
            yield "warehouse/north"
        else:
            yield start + k * 7


def asked(rng, tick, count):
    return [int(key) for key in rng.integers(0, 1_400_000, size=count)]


def main(run):
    guard = Filter()
    database = run.track("database", Database())
    health = run.track("health", {"filled": 0, "sum": 0, "load": 0.0})
    keys, questions, noise = run.rng("keys"), run.rng("questions"), run.rng("noise")
    recent = set()
    for tick in run.ticks(6):
        for key in batch(keys, tick):
            guard.add(key)
        for key in asked(questions, tick, 400):
            recent.add(key)
            if key in guard:
                database.read(key, exists=key % 7 == 0)
        health["filled"] = guard.filled
        health["sum"] = zlib.crc32(guard.bits)  # innocent
        health["load"] += float(noise.normal(0, 1e-3)) + len(recent) / 1000  # innocent
        if len(recent) > 1000:
            recent = set(sorted(recent)[-500:])  # innocent
