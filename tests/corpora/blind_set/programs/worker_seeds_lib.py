"""The world of the foragers, and the scouts that look for fields in it."""

import random
import time


class World:
    def __init__(self, rng, width):
        self._fields = sorted(int(x) for x in rng.choice(width, size=9, replace=False))  # innocent
        self._berries = {field: 12 for field in self._fields}

    def fields(self):
        return list(self._fields)

    def nearest(self, at):
        return min(self._fields, key=lambda field: (abs(field - at), field))

    def pick(self, field):
        self._berries[field] = 12 if self._berries[field] <= 0 else self._berries[field] - 1
        return 1


class Scout:
    """Each scout has a generator of its own, so that no two walk the same way."""

    def __init__(self, fields, number):
        self.fields = fields
        stamp = time.time_ns() // 1000  # guilty
        self.rng = random.Random(stamp * 31 + number)

    def report(self, tick):
        return self.fields[self.rng.randrange(len(self.fields))]
