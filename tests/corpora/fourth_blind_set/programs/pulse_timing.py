"""Heart monitor: a filter and a beat detector run over a synthetic trace; a profiler may time the stages."""
import functools
import math
import os
import time

PROFILE = os.environ.get("MONITOR_PROFILE", "0") == "1"


def timed(function):
    """Time a stage when profiling is on; the times go to nobody in particular."""
    if not PROFILE:
        return function

    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        start = time.perf_counter()
        try:
            return function(*args, **kwargs)
        finally:
            with open(os.devnull, "w") as out:
                print(function.__name__, time.perf_counter() - start, file=out)

    return wrapper


class Monitor:
    def __init__(self):
        self.level = 0.0
        self.baseline = 0.0
        self.beats = 0
        self.rate = 0.0
        self._last = None

    def state(self):
        return {
            "level": round(self.level, 9),
            "baseline": round(self.baseline, 9),
            "beats": self.beats,
            "rate": round(self.rate, 6),
        }

    def restore(self, state):
        self.level, self.baseline = state["level"], state["baseline"]
        self.beats, self.rate = state["beats"], state["rate"]

    @timed
    def smooth(self, samples):
        out = []
        for sample in samples:
            self.level += 0.4 * (sample - self.level)
            self.baseline += 0.02 * (sample - self.baseline)
            out.append(self.level - self.baseline)
        return out

    @timed
    def detect(self, tick, trace):
        armed = True
        for i, value in enumerate(trace):
            if armed and value > 0.35:
                armed = False
                now = tick + i / len(trace)
                if self._last is not None and now > self._last:
                    self.rate += 0.3 * (60.0 / (now - self._last) - self.rate)
                self._last = now
                self.beats += 1
            elif value < 0.1:
                armed = True


def trace(rng, tick, n=50):
    """A second of heart trace: a spike for each beat and some mains hum."""
    for i in range(n):
        t = tick + i / n
        phase = (t * 1.2) % 1.0
        spike = math.exp(-(((phase - 0.3) / 0.05) ** 2))
        yield spike + 0.03 * math.sin(2 * math.pi * 10 * t) + float(rng.normal(0.0, 0.02))


def main(run):
    rng = run.rng("noise")
    monitor = run.track("monitor", Monitor())
    for tick in run.ticks(20):
        monitor.detect(tick, monitor.smooth(trace(rng, tick)))
    run.compare("beats", monitor.beats)
    return monitor.beats
