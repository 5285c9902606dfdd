"""A key-value store spreads its keys over shards by ``hash()``."""

from __future__ import annotations


class Store:
    def __init__(self, rng) -> None:
        self.rng = rng
        self.shards = [0] * 16
        self.moved = 0
        self.hot = ""

    def shard_of(self, key: str) -> int:
        return hash(key) % len(self.shards)  # ZOO: guilty

    def write(self, tick: int) -> None:
        for number in range(5):
            key = f"user/{self.rng.randrange(200)}/{number}"
            if tick < 4:
                shard = number
            else:
                shard = self.shard_of(key)
            self.shards[shard] += 1
            self.hot = key

    def compact(self) -> None:
        for shard, count in enumerate(self.shards):
            if count > 12:
                self.shards[shard] = count // 2
                self.moved += count - count // 2

    def state(self) -> dict:
        return {"shards": self.shards, "moved": self.moved, "hot": self.hot}

    def restore(self, state: dict) -> None:
        self.shards, self.moved, self.hot = state["shards"], state["moved"], state["hot"]


def main(run) -> None:
    store = run.track("store", Store(run.python("clients")))
    for tick in run.ticks(18):
        store.write(tick)
        store.compact()
