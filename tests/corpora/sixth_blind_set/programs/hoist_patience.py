"""A stage hoist: between moves the controller waits for the millisecond to turn, as the old board did."""
import time
from collections import deque
from enum import Enum, auto


class Move(Enum):
    UP = auto()
    DOWN = auto()
    HOLD = auto()


class Edge:
    """Blocks until the monotonic clock enters another millisecond; the time itself is thrown away."""

    def __init__(self, step=1_000_000):
        self.step = step

    def wait(self):
        first = time.monotonic_ns() // self.step
        while time.monotonic_ns() // self.step == first:
            pass


class Motor:
    limits = (0.0, 12.0)

    def __init__(self):
        self.height, self.heat = 0.0, 20.0

    def drive(self, move, load):
        speed = {Move.UP: 0.6, Move.DOWN: -0.8, Move.HOLD: 0.0}[move]
        low, high = self.limits
        self.height = min(high, max(low, self.height + speed / (1 + load / 300)))
        self.heat += 0.02 * load * abs(speed) - 0.1 * (self.heat - 20)
        return self.heat < 60


class Hoist:
    def __init__(self, rng):
        self.rng, self.motor = rng, Motor()
        self.edge = Edge()
        self.plan = deque()
        self.trips = 0

    def cue(self, moves):
        self.plan.extend(moves)

    def tick(self):
        for _ in range(2):
            self.edge.wait()
            move = self.plan.popleft() if self.plan else Move.HOLD
            if not self.motor.drive(move, float(self.rng.uniform(40, 160))):
                self.plan.appendleft(Move.HOLD)
                self.trips += 1

    def state(self):
        return {"height": round(self.motor.height, 5), "heat": round(self.motor.heat, 5),
                "planned": len(self.plan), "trips": self.trips}

    def restore(self, state):
        self.motor.height, self.motor.heat, self.trips = state["height"], state["heat"], state["trips"]


def scene(number):
    yield from [Move.UP] * (3 + number % 4)
    yield Move.HOLD
    yield from [Move.DOWN] * (2 + number % 3)


def main(run):
    hoist = Hoist(run.rng("load"))
    run.track("hoist", hoist)
    for tick in run.ticks(20):
        if tick % 4 == 0:
            hoist.cue(scene(tick // 4))
        hoist.tick()
    return round(hoist.motor.height, 3)
