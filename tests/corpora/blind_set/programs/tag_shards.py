"""Documents with tags: an index in shards, each with its own room; full shards spill."""

import logging
import zlib
from dataclasses import dataclass, field

log = logging.getLogger("index")
TOPICS = ("rust", "wood", "iron", "glass", "clay", "wool", "salt", "tin")


@dataclass(frozen=True)
class Document:
    number: int
    tags: frozenset = field(default_factory=frozenset)

    def key(self):
        return f"{self.number % 4}:{self.tags}"  # guilty


@dataclass
class Shard:
    room: int
    held: int = 0
    spilled: int = 0

    def put(self):
        if self.held < self.room:
            self.held += 1
        else:
            self.spilled += 1


class Inbox:
    """Documents wait, with their keys, until the nightly job."""

    def __init__(self):
        self.entries = []

    def post(self, document):
        self.entries.append((document.number, document.key()))

    def drain(self):
        entries, self.entries = self.entries, []
        return entries


def write(rng, number):
    """Most documents have one tag; now and then one has more."""
    if number % 11 == 5:
        picked = rng.choice(len(TOPICS), size=3, replace=False)
        return Document(number, frozenset(TOPICS[int(i)] for i in picked))
    return Document(number, frozenset({TOPICS[int(rng.integers(len(TOPICS)))]}))


def main(run):
    inbox = Inbox()
    shards = run.track("shards", {str(k): Shard(room=9) for k in range(5)})
    census = run.track("census", {"documents": 0, "tags": [], "temperature": 20.0})
    writers, air = run.rng("writers"), run.rng("air")
    seen = set()
    number = 0
    for tick in run.ticks(45):
        for _ in range(2):
            document = write(writers, number)
            seen |= document.tags
            number += 1
            inbox.post(document)
        census["documents"] = number
        census["tags"] = sorted(seen)  # innocent
        census["temperature"] += float(air.normal(0, 0.1))  # innocent
        if tick % 15 == 14:
            for _, key in inbox.drain():
                shards[str(zlib.crc32(key.encode()) % len(shards))].put()  # innocent
            log.debug("shards hold %s", [shard.held for shard in shards.values()])
