"""An audio rack: filters lie as files in a folder and are chained as they are found."""

import os

HERE = os.path.dirname(os.path.abspath(__file__))
RACK = os.path.join(HERE, "filter_rack_presets")


def parse(path):
    """A preset is a list of `key value` lines."""
    settings = {}
    with open(path, encoding="ascii") as lines:
        for line in lines:
            key, _, value = line.partition(" ")
            settings[key] = value.strip()
    return settings


def clip(settings):
    limit = float(settings["limit"])
    return lambda x: max(-limit, min(limit, x))


def gain(settings):
    factor = float(settings["factor"])
    return lambda x: x * factor


def offset(settings):
    by = float(settings["by"])
    return lambda x: x + by


def fold(settings):
    span = float(settings["span"])
    return lambda x: abs((x + span) % (2 * span) - span)


MAKERS = {"clip": clip, "gain": gain, "offset": offset, "fold": fold}


class Rack:
    def __init__(self, folder):
        self.stages = []
        for name in os.listdir(folder):
            if name.endswith(".preset"):
                settings = parse(os.path.join(folder, name))
                self.stages.append(MAKERS[settings["kind"]](settings))

    def __call__(self, x):
        for stage in self.stages:
            x = stage(x)
        return x


class Meter:
    def __init__(self):
        self.peak = 0.0
        self.level = 0.0
        self.samples = 0

    def feed(self, value):
        self.peak = max(self.peak, abs(value))
        self.level += 0.2 * (value - self.level)
        self.samples += 1


def oscillator(rng):
    phase = 0.0
    while True:
        phase = (phase + 0.11 + 0.01 * float(rng.random())) % 2.0
        yield 1.0 - abs(phase - 1.0) * 2.0


def main(run):
    meter = run.track("meter", Meter())
    rack = Rack(RACK)
    dry = run.track("dry", Meter())
    source = oscillator(run.rng("oscillator"))
    for block in run.ticks(40):
        for _ in range(4):
            sample = next(source)
            dry.feed(sample)
            if block >= 10:
                meter.feed(rack(sample))
