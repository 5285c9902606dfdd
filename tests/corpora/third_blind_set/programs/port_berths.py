"""A harbour over some weeks: ships call, tugs bring them in, cranes work them, berths are billed."""

import heapq
import itertools
from dataclasses import dataclass


TUGS = {
    "Adelaar": 5.0, "Brent": 6.5, "Condor": 8.0, "Dirk": 5.5,
    "Ems": 7.5, "Falke": 6.0, "Goliath": 9.0, "Hai": 7.0,
}
FLAGS = ["NL", "DE", "PA", "LR", "MT"]


@dataclass
class Ship:
    number: int
    flag: str
    tons: float
    called: float
    tug: str = ""


class Kernel:
    """Time moves from event to event."""

    def __init__(self):
        self.now = 0.0
        self.heap = []
        self.ids = itertools.count()

    def after(self, delay, action, *arguments):
        heapq.heappush(self.heap, (self.now + delay, next(self.ids), action, arguments))

    def until(self, limit):
        while self.heap and self.heap[0][0] <= limit:
            self.now, _, action, arguments = heapq.heappop(self.heap)
            action(*arguments)
        self.now = limit


class Port:
    def __init__(self, calls, cranes, berths=4):
        self.kernel = Kernel()
        self.calls, self.cranes = calls, cranes
        self.roads = []
        self.moored = set(TUGS)
        self.free = berths
        self.numbers = itertools.count(1)
        self.seen_flags = set()
        self.called = self.berthed = self.sailed = 0
        self.tons = 0.0
        self.waited = 0.0
        self.dues = {flag: 0.0 for flag in FLAGS}
        self.kernel.after(0.5, self.call)

    def call(self):
        ship = Ship(next(self.numbers), FLAGS[self.calls.integers(len(FLAGS))],
                    float(self.calls.uniform(4, 20)), self.kernel.now)
        self.called += 1
        self.seen_flags.add(ship.flag)
        self.roads.append(ship)
        self.kernel.after(float(self.calls.exponential(1.6)) + 0.2, self.call)
        self.assign()

    def assign(self):
        while self.roads and self.moored and self.free:
            ship = self.roads.pop(0)
            ship.tug = self.moored.pop()
            self.free -= 1
            self.kernel.after(24.0 / TUGS[ship.tug] + 4.0, self.alongside, ship)

    def alongside(self, ship):
        self.berthed += 1
        self.waited += self.kernel.now - ship.called
        self.kernel.after(1.5, self.moored.add, ship.tug)
        self.kernel.after(ship.tons / float(self.cranes.uniform(4, 6)), self.sail, ship)

    def sail(self, ship):
        self.sailed += 1
        self.free += 1
        self.tons += ship.tons
        self.dues[ship.flag] += 0.4 * ship.tons
        self.assign()

    def report(self):
        return ", ".join(f"{flag} {self.dues[flag]:.2f}" for flag in sorted(self.seen_flags))

    def state(self):
        return {
            "called": self.called, "berthed": self.berthed, "sailed": self.sailed,
            "tons": self.tons, "waited": self.waited, "dues": dict(self.dues), "report": self.report(),
        }

    def restore(self, state):
        for name in ("called", "berthed", "sailed", "tons", "waited"):
            setattr(self, name, state[name])
        self.dues = dict(state["dues"])


def main(run):
    port = run.track("port", Port(run.rng("calls"), run.rng("cranes")))
    for day in run.ticks(30):
        port.kernel.until(day + 1.0)
