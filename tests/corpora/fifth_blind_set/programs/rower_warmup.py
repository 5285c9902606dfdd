"""Ergometer sessions: a decorator captures the warm-up as a default argument when the module is read."""
import os
from enum import Enum


class Zone(Enum):
    EASY = 1
    STEADY = 2
    SPRINT = 3


def with_zone(step):
    def inner(erg, rng, boost=float(os.getenv("ERG_BOOST", "1.0"))):
        watts = step(erg, rng)
        return watts * boost if erg.zone is Zone.SPRINT else watts
    return inner


@with_zone
def stroke(erg, rng):
    return erg.zone.value * 80 + float(rng.normal(0, 4))


class Erg:
    def __init__(self):
        self.zone = Zone.EASY
        self.metres = 0.0
        self.heat = 0.0

    def pull(self, rng):
        watts = stroke(self, rng)
        self.metres += (watts / 2.8) ** (1 / 3) * 2
        self.heat = 0.95 * self.heat + watts * 0.01

    def change(self, tick):
        if tick >= 20:
            self.zone = Zone.SPRINT
        elif tick >= 8:
            self.zone = Zone.STEADY

    def state(self):
        return {"metres": self.metres, "heat": self.heat, "zone": self.zone.name}

    def restore(self, state):
        self.metres, self.heat, self.zone = state["metres"], state["heat"], Zone[state["zone"]]


def main(run):
    rng = run.rng("rower")
    erg = run.track("erg", Erg())
    for tick in run.ticks(30):
        erg.change(tick)
        erg.pull(rng)
    return erg.zone.name
