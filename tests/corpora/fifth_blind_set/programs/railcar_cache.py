"""Sharded cache of railcar inspections; each shard evicts its oldest entry."""
from collections import OrderedDict

SHARDS = 4
CAPACITY = 6


def shard_of(name):
    return hash(name) % SHARDS


class Shard:
    def __init__(self, capacity):
        self.entries = OrderedDict()
        self.capacity = capacity

    def put(self, key, value):
        self.entries[key] = value
        self.entries.move_to_end(key)
        if len(self.entries) > self.capacity:
            self.entries.popitem(last=False)
            return True
        return False

    def get(self, key):
        if key in self.entries:
            self.entries.move_to_end(key)
            return self.entries[key]
        return None


class InspectionCache:
    def __init__(self):
        self.shards = [Shard(CAPACITY) for _ in range(SHARDS)]
        self.hits = self.misses = self.evictions = 0

    def inspect(self, name, compute):
        shard = self.shards[shard_of(name)]
        if (found := shard.get(name)) is not None:
            self.hits += 1
            return found
        self.misses += 1
        value = compute(name)
        self.evictions += shard.put(name, value)
        return value

    def state(self):
        return {"hits": self.hits, "misses": self.misses, "evictions": self.evictions}

    def restore(self, state):
        self.hits, self.misses = state["hits"], state["misses"]
        self.evictions = state["evictions"]


def main(run):
    rng = run.rng("inspections")
    cache = run.track("cache", InspectionCache())
    total = 0
    for tick in run.ticks(30):
        for _ in range(2):
            number = int(rng.integers(0, 8 + 2 * tick))
            total += cache.inspect(f"car-{number:03d}", lambda n: sum(map(ord, n)))
    return total
