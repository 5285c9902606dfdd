"""Hail pad network: raw impacts, moving medians, and a late recalibration."""
import os
from collections import deque
from dataclasses import dataclass, field

DEFAULTS = {"window": 5, "threshold": 18.0}
DEFAULTS["units"] = os.environ.get("HAIL_UNITS", "mm")


@dataclass
class Calibration:
    window: int = field(default_factory=lambda: DEFAULTS["window"])
    units: str = field(default_factory=lambda: DEFAULTS["units"])

    def factor(self):
        match self.units:
            case "mm":
                return 1.0
            case "in":
                return 25.4
            case other:
                raise ValueError(other)


class Pad:
    def __init__(self, name, calibration):
        self.name = name
        self.calibration = calibration
        self.recent = deque(maxlen=calibration.window)
        self.scale = 1.0

    def hit(self, size):
        self.recent.append(size * self.scale)

    def median(self):
        ordered = sorted(self.recent)
        return ordered[len(ordered) // 2] if ordered else 0.0

    def recalibrate(self):
        self.scale = 1.0 / self.calibration.factor()


class Network:
    def __init__(self, names):
        self.pads = {n: Pad(n, Calibration()) for n in names}
        self.alarms = 0

    def step(self, tick, sizes):
        if tick == 15:
            for pad in self.pads.values():
                pad.recalibrate()
        for pad, size in zip(self.pads.values(), sizes):
            pad.hit(float(size))
        self.alarms += sum(p.median() > DEFAULTS["threshold"] for p in self.pads.values())

    def state(self):
        return {"alarms": self.alarms,
                "medians": {n: round(p.median(), 4) for n, p in self.pads.items()}}

    def restore(self, state):
        self.alarms = state["alarms"]


def main(run):
    rng = run.rng("hail")
    net = run.track("network", Network(["ridge", "valley", "quarry", "airfield"]))
    for tick in run.ticks(26):
        net.step(tick, rng.gamma(3.0, 6.0, size=4))
    return net.alarms
