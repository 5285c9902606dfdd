"""Canteen trays carry a wall-clock stamp of when they were washed; nobody reads it, the washer goes by number."""
import heapq
import time
from dataclasses import dataclass, field


@dataclass(order=True)
class Tray:
    dirty: int
    number: int
    washed_at: float = field(default_factory=time.time, compare=False)


class Washer:
    def __init__(self, count):
        self.heap = [Tray(0, n) for n in range(count)]
        self.cycles = 0

    def use(self, soil):
        tray = heapq.heappop(self.heap)
        tray.dirty += soil
        heapq.heappush(self.heap, tray)

    def wash(self):
        worst = max(self.heap)
        self.heap.remove(worst)
        heapq.heapify(self.heap)
        heapq.heappush(self.heap, Tray(0, worst.number))
        self.cycles += 1

    def state(self):
        return {"dirty": {t.number: t.dirty for t in sorted(self.heap)}, "cycles": self.cycles}

    def restore(self, state):
        self.heap = [Tray(d, int(n)) for n, d in state["dirty"].items()]
        self.cycles = state["cycles"]


def main(run):
    rng = run.rng("lunch")
    washer = run.track("washer", Washer(6))
    for tick in run.ticks(18):
        for _ in range(3):
            washer.use(int(rng.integers(1, 5)))
        if tick % 2:
            washer.wash()
    return washer.cycles
