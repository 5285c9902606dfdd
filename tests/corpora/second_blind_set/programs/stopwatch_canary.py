"""A job scheduler that measures itself; measurements stay in a ring that only people read."""

import time
from collections import deque
from contextlib import contextmanager


class Stopwatch:
    def __init__(self, keep=50):
        self.ring = deque(maxlen=keep)

    @contextmanager
    def measure(self, label):
        began = time.perf_counter()
        try:
            yield
        finally:
            self.ring.append((label, time.perf_counter() - began))

    def slowest(self):
        return max(self.ring, key=lambda entry: entry[1])


class Job:
    def __init__(self, name, cost, every):
        self.name = name
        self.cost = cost
        self.every = every
        self.runs = 0

    def due(self, minute):
        return minute % self.every == 0

    def run(self, rng):
        self.runs += 1
        return sum(int(rng.integers(10)) for _ in range(self.cost))


class Scheduler:
    def __init__(self, jobs, rng):
        self.jobs = jobs
        self.rng = rng
        self.watch = Stopwatch()
        self.results = {}
        self.advice = None

    def minute(self, now):
        for job in self.jobs:
            if job.due(now):
                with self.watch.measure(job.name):
                    self.results[job.name] = job.run(self.rng)
        if now % 10 == 9:
            self.advise()

    def advise(self):
        """What an operator would see in the console."""
        label, seconds = self.watch.slowest()
        self.advice = f"{label} took {seconds * 1e3:.3f} ms"

    def state(self):
        return {"results": dict(self.results), "runs": [job.runs for job in self.jobs]}

    def restore(self, state):
        self.results = dict(state["results"])
        for job, runs in zip(self.jobs, state["runs"]):
            job.runs = runs


def main(run):
    jobs = [Job("backup", 9, 7), Job("index", 4, 2), Job("mail", 2, 1), Job("report", 12, 15)]
    scheduler = run.track("scheduler", Scheduler(jobs, run.rng("jobs")))
    for minute in run.ticks(45):
        scheduler.minute(minute)
