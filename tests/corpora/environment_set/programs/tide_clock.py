"""Lock gates that open by a schedule, and one that is opened by the clock of the machine."""

import time

import numpy as np


class Lock:
    def __init__(self, boats):
        self.boats = boats
        self.level = np.array([0.0, 3.0, 6.0])
        self.queue = []
        self.passed = 0
        self.stamp = 0

    def level_out(self, chamber):
        """Bring a chamber halfway to the next one."""
        mean = (self.level[chamber] + self.level[chamber + 1]) / 2
        self.level[chamber] = mean
        self.level[chamber + 1] = mean

    def admit(self):
        """Let the first boat through."""
        if self.queue:
            self.passed += self.queue.pop(0)

    def step(self, minute):
        self.queue.append(int(self.boats.integers(1, 5)))
        self.level_out(minute % 2)
        if minute == 9:
            now = time.time_ns()
            self.stamp = now // 1000 % 1_000_000
        if self.stamp and (minute + self.stamp) % 3 == 0:
            self.level[0] += 0.125 * (self.stamp % 7 + 1)
        self.admit()


def main(run):
    lock = run.track("lock", Lock(run.rng("boats")))
    for minute in run.ticks(20):
        lock.step(minute)
    return lock.passed
