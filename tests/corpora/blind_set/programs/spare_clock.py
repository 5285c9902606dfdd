"""A greenhouse with probes: a probe is looked for by name, with a stop watch for each look."""

import time
from dataclasses import dataclass


@dataclass
class Probe:
    name: str
    value: float = 18.0

    def read(self, outside, rng):
        self.value = 0.9 * self.value + 0.1 * outside + 0.05 * float(rng.normal())
        return self.value


class StopWatch:
    """Kept for the operator, who may ask for the slowest look; nobody does here."""

    def __init__(self):
        self.slowest = 0.0
        self.began = 0.0

    def start(self):
        self.began = time.perf_counter()  # innocent

    def stop(self):
        self.slowest = max(self.slowest, time.perf_counter() - self.began)  # innocent


class Rack:
    """Probes in no order."""

    def __init__(self, names):
        self.probes = {name: Probe(name) for name in names}
        self.labels = set(names)

    def find(self, wanted, watch):
        for label in self.labels:  # innocent
            watch.start()
            hit = label == wanted
            watch.stop()
            if hit:
                return self.probes[label]
        raise KeyError(wanted)


class Heater:
    def __init__(self):
        self.on = False
        self.hours = 0

    def control(self, value, target):
        self.on = value < target - (0.5 if not self.on else -0.5)
        self.hours += self.on


def outside(rng, tick):
    return 10.0 + 5.0 * ((tick // 6) % 4) + float(rng.random())


def main(run):
    rack = Rack([f"probe-{letter}" for letter in "abcdefghij"])
    watch = StopWatch()
    heater = run.track("heater", Heater())
    air = run.track("air", {"mean": 18.0, "low": 99.0})
    noise, weather = run.rng("noise"), run.rng("weather")
    order = sorted(rack.labels)  # innocent
    for tick in run.ticks(24):
        sky = outside(weather, tick)
        values = [rack.find(name, watch).read(sky + (2.0 if heater.on else 0.0), noise) for name in order]
        air["mean"] = sum(values) / len(values)
        air["low"] = min(air["low"], min(values))
        heater.control(air["mean"], 19.0)
    if watch.slowest > 5.0:
        raise TimeoutError("a look took five seconds")
