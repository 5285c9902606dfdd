"""Reservoir sampling for telemetry."""

import random


class Probe:
    """Keeps a uniform sample of all that it has seen."""

    def __init__(self, size):
        self.size = size
        self.count = 0
        self.sample = []

    def seen(self, row):
        self.count += 1
        if len(self.sample) < self.size:
            self.sample.append(row)
        elif (slot := random.randrange(self.count)) < self.size:
            self.sample[slot] = row
