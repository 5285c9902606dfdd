"""A small airport: arrivals take a ticket, wait in a heap, and get a gate when they are ready."""

import heapq
import itertools
import time
from dataclasses import dataclass, field

AIRLINES = ("KL", "BA", "LH", "AF", "SK", "TP", "IB", "OS", "LX", "LO")
GATES = ("A1", "A2", "A3", "B1", "B2")


@dataclass(order=True)
class Slot:
    ready: int
    ticket: int
    flight: str = field(compare=False)


class Tower:
    """Flights that may land; of two that are ready together, the lower ticket goes first."""

    def __init__(self):
        self.heap = []
        self.tickets = itertools.count(1)

    def admit(self, flights, ready):
        for flight in flights:  # guilty
            heapq.heappush(self.heap, Slot(ready, next(self.tickets), flight))

    def due(self, tick, free):
        taken = []
        while self.heap and self.heap[0].ready <= tick and len(taken) < free:
            taken.append(heapq.heappop(self.heap).flight)
        return taken


class Apron:
    def __init__(self, gates):
        self.until = dict.fromkeys(gates, -1)
        self.flight = dict.fromkeys(gates, "")
        self.served = 0

    def free(self, tick):
        return [gate for gate in self.until if self.until[gate] < tick]  # innocent

    def park(self, gate, flight, until):
        self.flight[gate] = flight
        self.until[gate] = until
        self.served += 1


def schedule(rng, tick):
    """The ordinary traffic of one tick, as a list."""
    count = int(rng.integers(0, 3))
    return [f"{AIRLINES[int(rng.integers(len(AIRLINES)))]}{tick:02d}{k}" for k in range(count)]


def diversions(tick):
    """A neighbouring field closed; whatever was bound for it comes here in half an hour."""
    closed = {f"{line}9{tick}" for line in AIRLINES[:7]}
    return closed - {"LH95", "XX95"}


def main(run):
    tower = Tower()
    apron = run.track("apron", Apron(GATES))
    fuel = run.track("fuel", {"left": 900.0, "orders": 0})
    traffic = run.rng("traffic")
    pumps = run.rng("pumps")
    known = {"KL", "BA"}
    for tick in run.ticks(48):
        started = time.perf_counter()  # innocent
        tower.admit(schedule(traffic, tick), tick + 1)
        if tick == 5:
            tower.admit(diversions(tick), tick + 22)
        free = apron.free(tick)
        for gate, flight in zip(free, tower.due(tick, len(free))):
            apron.park(gate, flight, tick + 2 + len(flight) % 3)
            if flight[:2] in known:  # innocent
                fuel["left"] -= 4.0 + float(pumps.random())
                fuel["orders"] += 1
        for line in sorted({f[:2] for f in apron.flight.values() if f}):  # innocent
            fuel["left"] -= 0.01 * len(line)
        if time.perf_counter() - started > 30:
            raise TimeoutError("the tower is stuck")
    return apron.served
