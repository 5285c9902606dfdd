"""A cache in shards that are all equal at first: a memoised ``hash`` chooses which of them is used."""

from __future__ import annotations

from collections import OrderedDict
from functools import lru_cache


@lru_cache(maxsize=None)
def shard_of(key, shards):
    return hash(key) % shards  # ZOO: guilty


class Shard:
    def __init__(self, size):
        self.size = size
        self.data = OrderedDict()
        self.hits = self.misses = 0

    def get(self, key, make):
        if key in self.data:
            self.data.move_to_end(key)
            self.hits += 1
            return self.data[key]
        self.misses += 1
        value = self.data[key] = make(key)
        if len(self.data) > self.size:
            self.data.popitem(last=False)
        return value


class Cache:
    def __init__(self, rng):
        self.rng = rng
        self.shards = [Shard(3) for _ in range(4)]
        self.total = 0

    def request(self):
        key = f"user:{self.rng.randrange(20)}"
        shard = self.shards[shard_of(key, len(self.shards))]
        self.total += shard.get(key, lambda k: len(k) * 3)

    def state(self):
        return {"hits": [s.hits for s in self.shards], "misses": [s.misses for s in self.shards]}


def main(run):
    cache = run.track("cache", Cache(run.python("traffic")))
    for _ in run.ticks(10):
        for _ in range(5):
            cache.request()
