"""Oven controller with an optional profile of each control step, switched on by the operators."""
import os
import time
from contextlib import contextmanager
from functools import wraps

PROFILE = {"calls": 0, "worst": 0.0}


def enabled():
    return os.environ.get("OVEN_METRICS", "") == "1"


@contextmanager
def timed():
    began = time.perf_counter()
    try:
        yield
    finally:
        spent = time.perf_counter() - began
        PROFILE["calls"] += 1
        PROFILE["worst"] = max(PROFILE["worst"], spent)


def measured(function):
    @wraps(function)
    def inner(*args, **kwargs):
        if not enabled():
            return function(*args, **kwargs)
        with timed():
            return function(*args, **kwargs)

    return inner


class Controller:
    """A PI controller with a clamp."""

    def __init__(self, kp, ki):
        self.kp = kp
        self.ki = ki
        self.total = 0.0

    @measured
    def output(self, error):
        self.total = max(-200.0, min(200.0, self.total + error))
        return max(0.0, min(100.0, self.kp * error + self.ki * self.total))


class Oven:
    def __init__(self, target, controller):
        self.target = target
        self.controller = controller
        self.heat = 20.0
        self.loaves = 0
        self.energy = 0.0

    @measured
    def step(self, draught):
        power = self.controller.output(self.target - self.heat)
        self.heat += power * 0.3 - (self.heat - 20.0) * 0.06 - draught
        self.energy += power
        if abs(self.heat - self.target) < 12:
            self.loaves += 4

    def state(self):
        return {"heat": round(self.heat, 6), "loaves": self.loaves, "energy": round(self.energy, 5),
                "integral": round(self.controller.total, 6)}

    def restore(self, state):
        self.heat, self.loaves, self.energy = state["heat"], state["loaves"], state["energy"]
        self.controller.total = state["integral"]


def main(run):
    door = run.rng("door")
    oven = run.track("oven", Oven(220.0, Controller(1.1, 0.12)))
    for _ in run.ticks(36):
        oven.step(float(door.gamma(1.5, 0.8)))
    return oven.loaves
