"""A warehouse at night: one guard walks a round that is planned once, robots do the rest."""

import itertools

GATES = ["dock-1", "dock-2", "cold-store", "archive", "pump-room", "lab", "roof", "canteen"]
CLOSED = {"canteen"}


def rounds(stations):
    """The guard's plan: station by station, and again from the start, for ever."""
    while True:
        for station in stations:
            yield station


def squeaks(rng):
    while True:
        yield bool(rng.random() < 0.2)


class Robot:
    """A floor cleaner that goes around in squares."""

    HEADINGS = itertools.cycle  # chosen by each robot itself

    def __init__(self, name, rng):
        self.name = name
        self.rng = rng
        self.x = self.y = 0
        self.turns = self.HEADINGS(((1, 0), (0, 1), (-1, 0), (0, -1)))
        self.noise = squeaks(rng)

    def move(self):
        dx, dy = next(self.turns)
        length = int(self.rng.integers(1, 4))
        self.x += dx * length
        self.y += dy * length
        return next(self.noise)

    def state(self):
        return {"x": self.x, "y": self.y}

    def restore(self, state):
        self.x, self.y = state["x"], state["y"]


class Guard:
    def __init__(self, plan):
        self.plan = plan
        self.log = []
        self.battery = 100

    def check(self, hour):
        self.log.append((hour, next(self.plan)))
        self.battery -= 1

    def state(self):
        return {"log": list(self.log), "battery": self.battery}

    def restore(self, state):
        self.log, self.battery = list(state["log"]), state["battery"]


def main(run):
    robots = [run.track(f"robot/{i}", Robot(f"r{i}", run.rng(f"robot/{i}"))) for i in range(3)]
    to_visit = frozenset(GATES).difference(CLOSED)
    guard = run.track("guard", Guard(rounds(to_visit)))
    alarms = run.track("alarms", {"squeaks": 0})
    for hour in run.ticks(40):
        alarms["squeaks"] += sum(robot.move() for robot in robots)
        if hour >= 8 and hour % 4 == 0:
            guard.check(hour)
