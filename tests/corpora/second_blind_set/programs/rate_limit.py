"""An API gateway in one process: token buckets, back-pressure and a small cache."""

import time
from collections import OrderedDict


class Bucket:
    """A token bucket that fills as the clock goes on."""

    def __init__(self, rate, burst, clock=time.perf_counter):
        self.rate = rate
        self.burst = burst
        self.clock = clock
        self.tokens = burst
        self.stamp = clock()

    def take(self):
        now = self.clock()
        self.tokens = min(self.burst, self.tokens + (now - self.stamp) * self.rate)
        self.stamp = now
        if self.tokens >= 1:
            self.tokens -= 1
            return True
        return False


class Cache:
    def __init__(self, size):
        self.size = size
        self.entries = OrderedDict()

    def get(self, key):
        if key in self.entries:
            self.entries.move_to_end(key)
            return self.entries[key]
        return None

    def put(self, key, value):
        self.entries[key] = value
        if len(self.entries) > self.size:
            self.entries.popitem(last=False)


class Gateway:
    def __init__(self, backend):
        self.backend = backend
        self.cache = Cache(8)
        self.bucket = Bucket(rate=3_000.0, burst=5)
        self.answered = 0
        self.cached = 0
        self.credit = 0.0

    def request(self, key):
        value = self.cache.get(key)
        if value is not None:
            self.cached += 1
            return value
        if not self.bucket.take():
            return None
        value = self.backend(key)
        self.cache.put(key, value)
        self.answered += 1
        return value

    def close_hour(self):
        """Unused tokens become credit of the tenant."""
        self.credit += self.bucket.tokens

    def state(self):
        return {"credit": self.credit}

    def restore(self, state):
        self.credit = state["credit"]


def main(run):
    gateway = run.track("gateway", Gateway(lambda key: key * key % 97))
    visitors = run.rng("visitors")
    counter = run.track("counter", {"visits": 0})
    for tick in run.ticks(48):
        for key in visitors.zipf(1.6, size=6):
            gateway.request(int(key) % 30)
            counter["visits"] += 1
        if tick % 16 == 15:
            gateway.close_hour()
