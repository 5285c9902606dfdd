"""Replicas of a key-value store exchange their logs through files and merge them."""

import json
import shutil
import tempfile
from pathlib import Path

NAMES = ["alder", "birch", "cedar"]
KEYS = [f"acct-{n}" for n in range(12)]


class Replica:
    def __init__(self, name, folder):
        self.name = name
        self.path = Path(folder) / f"{name}.jsonl"
        self.clock = 0
        self.values = {}
        self.dirty = set()
        self.merged = 0

    def write(self, key, value):
        self.clock += 1
        self.values[key] = (self.clock, value)
        self.dirty.add(key)

    def flush(self):
        """Append what changed since the last flush to the log."""
        with self.path.open("a", encoding="utf-8") as out:
            for key in self.dirty:
                stamp, value = self.values[key]
                out.write(json.dumps({"key": key, "stamp": stamp // 8, "value": value}) + "\n")
        self.dirty.clear()

    def pull(self, other):
        """Last writer wins; among equals, whoever is read last. A quota bounds each round."""
        quota = 6
        for line in other.path.read_text(encoding="utf-8").splitlines()[-9:]:
            if quota == 0:
                break
            entry = json.loads(line)
            mine = self.values.get(entry["key"], (-1, 0))
            if entry["stamp"] >= mine[0] // 8:
                self.values[entry["key"]] = (entry["stamp"] * 8, entry["value"])
                self.merged += 1
                quota -= 1

    def state(self):
        return {"merged": self.merged, "values": {key: value for key, (_, value) in self.values.items()}}

    def restore(self, state):
        self.merged = state["merged"]
        self.values = {key: (0, value) for key, value in state["values"].items()}


def traffic(rng, replicas):
    for replica in replicas:
        for _ in range(int(rng.integers(1, 5))):
            replica.write(KEYS[int(rng.integers(len(KEYS)))], int(rng.integers(1000)))


def main(run):
    folder = tempfile.mkdtemp(prefix="gossip")
    try:
        replicas = [run.track(name, Replica(name, folder)) for name in NAMES]
        rng = run.rng("traffic")
        for tick in run.ticks(30):
            traffic(rng, replicas)
            if tick % 3 == 2:
                for replica in replicas:
                    replica.flush()
            if tick == 24:
                for left, right in zip(replicas, replicas[1:] + replicas[:1]):
                    left.pull(right)
    finally:
        shutil.rmtree(folder)
