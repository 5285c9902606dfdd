"""An altimeter filter is timed while it runs; the timings go to a console that is thrown away."""
import os
import sys
import time
from collections import deque
from functools import wraps

import numpy as np


class Console:
    """stderr-like; in tests and batch runs it is the null device."""

    def __init__(self):
        self.out = open(os.devnull, "w")

    def say(self, *parts):
        print(*parts, file=self.out, flush=True)

    def close(self):
        self.out.close()


console = Console()


def timed(call):
    spent = deque(maxlen=5)

    @wraps(call)
    def inner(*args, **kwargs):
        start = time.perf_counter()
        try:
            return call(*args, **kwargs)
        finally:
            spent.append(time.perf_counter() - start)
            console.say(f"{call.__qualname__}: {1e6 * sum(spent) / len(spent):.1f} us, pid {os.getpid()}")
    return inner


class Altimeter:
    """A two-state Kalman filter: height and rate of climb."""

    def __init__(self, noise):
        self.x = np.array([1500.0, 0.0])
        self.P = np.diag([50.0, 4.0])
        self.F = np.array([[1.0, 1.0], [0.0, 1.0]])
        self.Q = np.diag([0.2, 0.05])
        self.noise = noise

    @timed
    def predict(self):
        self.x = self.F @ self.x
        self.P = self.F @ self.P @ self.F.T + self.Q

    @timed
    def update(self, reading):
        gain = self.P[:, 0] / (self.P[0, 0] + self.noise)
        self.x = self.x + gain * (reading - self.x[0])
        self.P = self.P - np.outer(gain, self.P[0])

    def state(self):
        return {"height": round(float(self.x[0]), 6), "climb": round(float(self.x[1]), 6),
                "spread": round(float(self.P[0, 0]), 6)}

    def restore(self, state):
        self.x = np.array([state["height"], state["climb"]])


def track(rng, count):
    height = 1500.0
    for n in range(count):
        height += 4 + 3 * np.sin(n / 4)
        yield height + rng.normal(0, 5)


def main(run):
    altimeter = Altimeter(25.0)
    run.track("altimeter", altimeter)
    readings = track(run.rng("pressure"), 30)
    for tick in run.ticks(24):
        altimeter.predict()
        if tick % 5 != 4:
            altimeter.update(next(readings))
        console.say("tick", tick, time.strftime("%H:%M:%S"), sys.getsizeof(altimeter.P))
    console.close()
    return round(float(altimeter.x[0]), 3)
