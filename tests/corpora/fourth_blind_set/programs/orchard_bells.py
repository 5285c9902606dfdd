"""Orchard frost watch: listeners hear a temperature bell and put jobs on a shared heap, worked off later."""
import heapq
import weakref
from functools import total_ordering


@total_ordering
class Job:
    """Jobs are ordered by urgency only; equally urgent jobs are first come, first served (more or less)."""

    def __init__(self, urgency, block, litres):
        self.urgency, self.block, self.litres = urgency, block, litres

    def __eq__(self, other):
        return self.urgency == other.urgency

    def __lt__(self, other):
        return self.urgency < other.urgency


class Block:
    def __init__(self, name, hardy, litres):
        self.name, self.hardy, self.litres = name, hardy, litres

    def __hash__(self):
        return hash(("block", self.name))

    def __eq__(self, other):
        return isinstance(other, Block) and self.name == other.name

    def hear(self, temperature):
        if temperature > self.hardy:
            return None
        return Job(round(self.hardy - temperature) // 3, self.name, self.litres)


class Bell:
    def __init__(self):
        self._listeners = weakref.WeakSet()

    def subscribe(self, listener):
        self._listeners.add(listener)
        return listener

    def ring(self, temperature):
        for listener in self._listeners:
            job = listener.hear(temperature)
            if job is not None:
                yield job


class Pump:
    def __init__(self, tank):
        self.tank = tank
        self.jobs = []
        self.watered = {}
        self.last = None
        self.ready_at = None

    def state(self):
        return {"tank": self.tank, "open": len(self.jobs), "last": self.last, "watered": dict(sorted(self.watered.items()))}

    def restore(self, state):
        self.tank, self.last, self.watered = state["tank"], state["last"], dict(state["watered"])

    def take(self, jobs):
        for job in jobs:
            heapq.heappush(self.jobs, job)

    def work(self, tick):
        if self.jobs and self.ready_at is None:
            self.ready_at = tick + 5  # the crew has to drive out first
        if self.ready_at is None or tick < self.ready_at:
            return
        if self.jobs and self.tank >= self.jobs[0].litres:
            job = heapq.heappop(self.jobs)
            self.tank -= job.litres
            self.last = job.block
            self.watered[job.block] = self.watered.get(job.block, 0) + job.litres


def night(rng, n):
    temperature = 6.0
    for _ in range(n):
        temperature -= 0.9 + float(rng.random()) * 0.3
        yield round(temperature, 3)
        if temperature < -3.0:
            temperature += 4.5


PLANTING = [
    ("almond", 1, 40), ("apricot", 1, 50), ("plum", 1, 30), ("cherry", 1, 60),
    ("pear", 1, 45), ("quince", 1, 35), ("medlar", 1, 55), ("apple", 1, 25),
]


def main(run):
    bell = Bell()
    blocks = [bell.subscribe(Block(*row)) for row in PLANTING]
    pump = run.track("pump", Pump(700))
    weather = night(run.rng("night"), 24)
    for tick in run.ticks(24):
        temperature = next(weather)
        if tick % 4 == 0 or temperature < -2.0:
            pump.take(bell.ring(temperature))
        pump.work(tick)
    return {"blocks": len(blocks), "tank": pump.tank}
