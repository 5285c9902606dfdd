"""An elevator with flags: which modes are on decides who is served first, and how the motor wears."""

import enum
import logging
from dataclasses import dataclass

log = logging.getLogger("elevator")


class Mode(enum.Enum):
    NIGHT = "night"
    FIRE_TEST = "fire test"
    FREIGHT = "freight"
    VIP = "vip"
    EXPRESS = "express"
    CLEANING = "cleaning"


FLOOR_OF = {Mode.NIGHT: 0, Mode.FIRE_TEST: 9, Mode.FREIGHT: 1, Mode.VIP: 12, Mode.EXPRESS: 7, Mode.CLEANING: 4}


@dataclass
class Car:
    floor: int = 0
    travelled: int = 0
    wear: float = 0.0

    def go(self, floor, roughness):
        distance = abs(floor - self.floor)
        self.travelled += distance
        self.wear += distance * (1.0 + roughness)
        self.floor = floor


def inspection(modes, rest):
    """A round of inspection: one floor for each mode, after some quiet ticks, one a visit."""
    for mode in modes:  # guilty
        for _ in range(rest):
            yield None
        yield FLOOR_OF[mode]


class Desk:
    """Takes calls of people; a call is a floor."""

    def __init__(self, rng):
        self.rng = rng
        self.waiting = []

    def calls(self, tick):
        if tick % 2 == 0:
            self.waiting.append(int(self.rng.integers(0, 13)))
        return self.waiting

    def serve(self):
        return self.waiting.pop(0) if self.waiting else None


def main(run):
    car = run.track("car", Car())
    desk = run.track("desk", Desk(run.rng("desk")))
    power = run.track("power", {"kwh": 0.0, "peaks": 0})
    bumps = run.rng("bumps")
    modes = {Mode.NIGHT, Mode.FREIGHT, Mode.VIP, Mode.EXPRESS, Mode.CLEANING}
    if Mode.FIRE_TEST in modes:  # innocent
        raise RuntimeError("no inspection during a fire test")
    tour = inspection(modes, rest=3)
    quiet = len({m.value for m in modes}) + 4  # innocent
    for tick in run.ticks(50):
        desk.calls(tick)
        floor = desk.serve()
        if floor is not None:
            car.go(floor, float(bumps.random()))
        if tick >= quiet:
            stop = next(tour, None)
            if stop is not None:
                log.debug("inspects %d", stop)
                if tick >= 20:
                    car.go(stop, 0.0)
        used = 0.02 * car.travelled
        power["peaks"] += used - power["kwh"] > 0.15
        power["kwh"] = used
        modes = set(sorted(modes, key=lambda m: m.name))  # innocent
