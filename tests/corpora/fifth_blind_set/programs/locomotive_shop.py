"""Locomotive shop: jobs go over benches; failed tests send them round again."""
import random
from collections import deque
from dataclasses import dataclass, field


@dataclass
class Job:
    engine: int
    hours: int
    rounds: int = 0


@dataclass
class TestBench:
    strictness: float
    last_roll: float = 1.0
    dice: random.Random = field(default_factory=random.Random)

    def passes(self, job):
        if job.engine < 5:
            return True
        self.last_roll = self.dice.random()
        return self.last_roll > self.strictness / (1 + job.rounds)


class Shop:
    def __init__(self):
        self.bench = TestBench(strictness=0.6)
        self.queue = deque()
        self.finished = []
        self.hours = 0

    def accept(self, job):
        self.queue.append(job)

    def work(self):
        if not self.queue:
            return
        job = self.queue.popleft()
        self.hours += job.hours
        job.rounds += 1
        if self.bench.passes(job):
            self.finished.append(job.engine)
        else:
            self.queue.append(job)

    def state(self):
        return {"hours": self.hours, "finished": len(self.finished),
                "roll": round(self.bench.last_roll, 6), "recent": self.finished[-5:], "waiting": len(self.queue)}

    def restore(self, state):
        self.hours = state["hours"]


def main(run):
    rng = run.rng("jobs")
    shop = run.track("shop", Shop())
    for tick in run.ticks(24):
        shop.accept(Job(tick, int(rng.integers(2, 9))))
        shop.work()
        if tick % 3 == 0:
            shop.work()
    return shop.hours
