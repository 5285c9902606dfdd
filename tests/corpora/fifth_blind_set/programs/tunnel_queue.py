"""Tunnel queue: trains get snowflake-like ids, the id picks one of the bores."""
import os
import zlib
from collections import deque
from itertools import count


class Snowflake:
    def __init__(self):
        self.worker = None
        self.sequence = count()

    def next_id(self, tick):
        if self.worker is None:
            self.worker = os.getpid()
        return f"{tick:06d}-{self.worker:010d}-{next(self.sequence):04d}"


class Bore:
    def __init__(self, name):
        self.name = name
        self.waiting = deque()
        self.passed = 0

    def advance(self):
        if self.waiting:
            self.waiting.popleft()
            self.passed += 1


class Tunnel:
    def __init__(self, names):
        self.bores = [Bore(n) for n in names]
        self.ids = Snowflake()

    def arrive(self, train, tick):
        key = zlib.crc32(self.ids.next_id(tick).encode())
        self.bores[key % len(self.bores)].waiting.append(train)

    def advance(self):
        for bore in self.bores:
            bore.advance()

    def state(self):
        return {b.name: {"waiting": list(b.waiting), "passed": b.passed} for b in self.bores}

    def restore(self, state):
        for bore in self.bores:
            bore.passed = state[bore.name]["passed"]


def main(run):
    rng = run.rng("trains")
    tunnel = run.track("tunnel", Tunnel(["north", "south", "service"]))
    for tick in run.ticks(20):
        if tick >= 2:
            for k in range(7 + int(rng.integers(0, 3))):
                tunnel.arrive(f"{tick}/{k}", tick)
        tunnel.advance()
    return sum(b.passed for b in tunnel.bores)
