"""A field of tracers that a small torch kernel moves; a valve opens with the mean of the field."""

import torch


class Field:
    """Many cells of single precision."""

    def __init__(self, cells, rng):
        self.values = torch.from_numpy(rng.random(cells, dtype="float32"))
        self.source = torch.from_numpy(rng.random(cells, dtype="float32"))

    def flow(self, valve):
        rolled = torch.roll(self.values, 1)  # innocent
        self.values = 0.6 * self.values + 0.3 * rolled + (0.1 * valve) * self.source  # innocent

    def total(self):
        return self.values.sum().item()  # guilty

    def probe(self, places):
        return [round(self.values[place].item(), 2) for place in places]


class Valve:
    """Opens by a map that is chaotic in the total."""

    def __init__(self):
        self.opening = 0.3
        self.turned = 0

    def follow(self, total):
        before = self.opening
        phase = total * 3.0 % 1.0
        self.opening = 0.1 + 0.8 * abs(1.0 - 2.0 * ((self.opening + phase) % 1.0))
        self.turned += abs(self.opening - before) > 0.3


class Pumps:
    def __init__(self, rng):
        self.rng = rng
        self.hours = [0.0, 0.0, 0.0]

    def run(self, tick):
        k = int(self.rng.integers(3))
        self.hours[k] += 1.0 if tick % 2 else 0.5


def main(run):
    field = Field(240_000, run.rng("field"))
    valve = run.track("valve", Valve())
    pumps = run.track("pumps", Pumps(run.rng("pumps")))
    log = run.track("log", {"probes": [], "heat": 0.0})
    heat = run.rng("heat")
    places = {3, 77, 1024, 9000}
    for tick in run.ticks(20):
        if tick < 6:
            field.flow(0.3)
        else:
            field.flow(0.25)
            valve.follow(field.total())
        pumps.run(tick)
        log["probes"] = sorted(places)[: 1 + tick % 4]  # innocent
        log["heat"] += float(heat.random())
