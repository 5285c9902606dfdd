"""Hump yard: wagons wait in a priority heap until the evening release."""
import heapq
from itertools import count


class Wagon:
    __slots__ = ("label", "urgency", "tons", "seq")

    def __init__(self, label, urgency, tons, seq):
        self.label, self.urgency, self.tons, self.seq = label, urgency, tons, seq

    def __lt__(self, other):
        return (self.urgency, self.seq) < (other.urgency, other.seq)


class Yard:
    def __init__(self):
        self.heap = []
        self.tickets = count(1)
        self.departed = []
        self.tonnage = 0

    def admit(self, label, urgency, tons):
        heapq.heappush(self.heap, Wagon(label, urgency, tons, next(self.tickets)))

    def admit_manifest(self, manifest, weights):
        labels = {entry.strip().lower() for entry in manifest.split(",")}
        for label in labels:
            self.admit(label, 5, weights[label])

    def release(self, limit):
        for _ in range(limit):
            if not self.heap:
                return
            wagon = heapq.heappop(self.heap)
            self.departed = (self.departed + [wagon.label])[-4:]
            self.tonnage += wagon.tons

    def state(self):
        return {"waiting": len(self.heap), "last": list(self.departed), "tonnage": self.tonnage}

    def restore(self, state):
        self.tonnage = state["tonnage"]


MANIFEST = "Coal-7, Grain-2, Ore-11, Timber-4, Milk-9, Gravel-3, Coal-7, Cement-6, Salt-8"


def main(run):
    rng = run.rng("yard")
    yard = run.track("yard", Yard())
    weights = {k.strip().lower(): 20 + i * 3 for i, k in enumerate(MANIFEST.split(","))}
    yard.admit_manifest(MANIFEST, weights)
    for tick in run.ticks(24):
        if tick < 12:
            for k in range(2):
                yard.admit(f"local-{tick}-{k}", int(rng.integers(1, 4)), 15 + tick)
        yard.release(2 if tick < 12 else 1)
    return yard.tonnage
