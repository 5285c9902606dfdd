"""Locomotive tenders are spread over coaling stages by a cheap shard key; each stage works in its own queue."""
from collections import defaultdict, deque


class Tender:
    __slots__ = ("name", "coal", "water")

    def __init__(self, name, coal, water):
        self.name = name
        self.coal = coal
        self.water = water


class Stage:
    def __init__(self, number):
        self.number = number
        self.queue = deque()
        self.lifted = 0

    def work(self, shovels):
        while shovels and self.queue:
            tender = self.queue[0]
            take = min(shovels, 6 - tender.coal)
            tender.coal += take
            shovels -= take
            self.lifted += take
            if tender.coal >= 6:
                self.queue.popleft()


class Depot:
    stages = 5

    def __init__(self):
        self.rows = [Stage(n) for n in range(self.stages)]
        self.index = defaultdict(list)
        self.idle = 0

    def stage_of(self, tender):
        return self.rows[(id(tender) >> 4) % self.stages]

    def arrive(self, tender):
        stage = self.stage_of(tender)
        stage.queue.append(tender)
        self.index[stage.number].append(tender.name)

    def tick(self):
        for stage in self.rows:
            self.idle += not stage.queue
            stage.work(4)

    def state(self):
        return {"queues": [len(s.queue) for s in self.rows], "lifted": [s.lifted for s in self.rows],
                "idle": self.idle}

    def restore(self, state):
        self.idle = state["idle"]
        for stage, lifted in zip(self.rows, state["lifted"]):
            stage.lifted = lifted


def engines(rng):
    number = 4400
    while True:
        batch = []
        for _ in range(int(rng.integers(2, 6))):
            number += 1
            batch.append(Tender(f"No. {number}", int(rng.integers(0, 4)), 3000))
        yield batch


def main(run):
    depot = run.track("depot", Depot())
    arrivals = engines(run.rng("engines"))
    for _ in run.ticks(20):
        for tender in next(arrivals):
            depot.arrive(tender)
        depot.tick()
    return depot.idle
