"""Seat assignment: passengers queue by class; ties go to whoever was added first."""
from sortedcontainers import SortedKeyList

GROUPS = {
    "club": ["moss", "pryce", "quill", "reed"],
    "choir-trip": ["nash", "orr", "pryce", "shaw", "reed"],
    "solo": ["tate", "usher", "vance"],
}


def unique_passengers(groups):
    everyone = {p for members in groups.values() for p in members}
    waiting = dict.fromkeys(everyone, "standard")
    waiting["moss"] = waiting["tate"] = "first"
    return waiting


class Train:
    ranks = {"first": 0, "standard": 1}

    def __init__(self, seats):
        self.queue = SortedKeyList(key=lambda item: self.ranks[item[1]])
        self.free = list(range(1, seats + 1))
        self.assigned = {}

    def enqueue(self, waiting):
        for name, level in waiting.items():
            self.queue.add((name, level))

    def seat_next(self, pick):
        if self.queue and self.free:
            name, _ = self.queue.pop(0)
            self.assigned[name] = self.free.pop(pick % len(self.free))

    def state(self):
        return {"assigned": dict(self.assigned), "free": len(self.free)}

    def restore(self, state):
        self.assigned = dict(state["assigned"])


def main(run):
    rng = run.rng("seats")
    train = run.track("train", Train(14))
    for tick in run.ticks(14):
        if tick == 2:
            train.enqueue(unique_passengers(GROUPS))
        if tick >= 3:
            train.seat_next(int(rng.integers(0, 14)))
    return sum(train.assigned.values())
