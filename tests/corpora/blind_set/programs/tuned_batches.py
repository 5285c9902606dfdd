"""A warehouse that picks in batches; a decorator measures the picker, and the batch size follows."""

import functools
import time
from collections import deque


class Tuner:
    """Knows how long calls took, in slots of a tenth of a microsecond."""

    def __init__(self, slots):
        self.slots = slots
        self.marks = deque(maxlen=6)

    def size(self, least):
        return least + (sum(self.marks) % self.slots if len(self.marks) == 6 else 0)


def measured(tuner):
    """A decorator: the time of each call goes to the tuner."""

    def wrap(function):
        @functools.wraps(function)
        def inner(*args, **kwargs):
            begin = time.perf_counter_ns()  # guilty
            try:
                return function(*args, **kwargs)
            finally:
                tuner.marks.append((time.perf_counter_ns() - begin) // 100)  # guilty

        return inner

    return wrap


class Warehouse:
    def __init__(self, rng):
        self.rng = rng
        self.waiting = 0
        self.picked = 0
        self.walked = 0.0

    def receive(self):
        self.waiting += int(self.rng.integers(2, 7))

    def pick(self, size):
        taken = min(size, self.waiting)
        self.waiting -= taken
        self.picked += taken
        self.walked += 20.0 + 3.0 * taken if taken else 0.0
        return taken


def route(aisles):
    """A tour through the aisles, there and back."""
    return sum(abs(a - b) for a, b in zip(aisles, aisles[1:])) + (aisles[-1] if aisles else 0)


def main(run):
    tuner = Tuner(slots=5)
    timed_route = measured(tuner)(route)
    house = run.track("house", Warehouse(run.rng("house")))
    drivers = run.track("drivers", {"loaded": 0, "waited": 0, "diesel": 0.0})
    aisles, roads = run.rng("aisles"), run.rng("roads")
    began = time.time()  # innocent
    for tick in run.ticks(40):
        house.receive()
        if tick % 3 == 1:
            path = [int(a) for a in aisles.integers(0, 12, size=6)]
            house.walked += timed_route(path)  # innocent
        taken = house.pick(4 if tick < 25 else tuner.size(2))
        drivers["loaded"] += taken // 2
        drivers["waited"] += taken == 0
        drivers["diesel"] += float(roads.random())
    print("took less than an hour:", time.time() - began < 3600)  # innocent
