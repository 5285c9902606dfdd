"""A cable car line; with PROBE=1 the operator also looks at the machine's own load, and forgets it."""
import os
from itertools import cycle
from pathlib import Path

PROC = Path("/proc/self")


class Probe:
    """Health figures of this very process, for the operator's eyes only."""

    def __init__(self, environ):
        self.environ = environ

    def look(self):
        if self.environ.get("PROBE") != "1":
            return
        pages = int((PROC / "statm").read_text().split()[0])
        (PROC / "status").read_bytes()
        os.getloadavg()
        if pages < 0:
            raise RuntimeError("the machine has no memory")


class Cabin:
    def __init__(self, number, seats):
        self.number, self.seats = number, seats
        self.place, self.aboard = 0.0, 0

    def board(self, queue):
        self.aboard = min(self.seats, queue)
        return queue - self.aboard

    def ride(self, speed):
        self.place += speed
        if self.place >= 10:
            self.place -= 10
            landed, self.aboard = self.aboard, 0
            return landed
        return 0


class Line:
    def __init__(self, rng):
        self.rng = rng
        self.cabins = [Cabin(n, 8 + 2 * n) for n in range(4)]
        self.turn = cycle(self.cabins)
        self.queue = self.landed = 0
        self.wind = 0.0

    def minute(self):
        self.queue += int(self.rng.poisson(5))
        self.wind = 0.8 * self.wind + float(self.rng.exponential(1.0))
        cabin = next(self.turn)
        if cabin.aboard == 0:
            self.queue = cabin.board(self.queue)
        speed = 3.0 if self.wind < 6 else 1.5
        self.landed += sum(c.ride(speed) for c in self.cabins if c.aboard)

    def state(self):
        return {"queue": self.queue, "landed": self.landed, "wind": round(self.wind, 5),
                "places": [round(c.place, 3) for c in self.cabins]}

    def restore(self, state):
        self.queue, self.landed, self.wind = state["queue"], state["landed"], state["wind"]


def main(run):
    line = Line(run.rng("valley"))
    run.track("line", line)
    probe = Probe(os.environ)
    for tick in run.ticks(25):
        line.minute()
        if tick % 3 == 0:
            probe.look()
    return line.landed
