"""A fleet of vans: orders are dispatched, vans drive, and after noon a policy of the depot holds."""

from dataclasses import dataclass

from fleet_dispatch_lib import Policy, profile

PLACES = 24


@dataclass
class Van:
    name: str
    at: int
    load: int = 0
    driven: int = 0

    def drive(self, place):
        self.driven += abs(place - self.at)
        self.at = place


class Depot:
    def __init__(self, policy):
        self.policy = policy
        self.orders = []
        self.late = 0

    def receive(self, rng, tick):
        for _ in range(int(rng.integers(0, 4))):
            self.orders.append((tick, int(rng.integers(PLACES))))

    def assign(self, van, tick):
        if not self.orders:
            return None
        index = self.policy.choose(self.orders, van.at, tick)
        born, place = self.orders.pop(index)
        self.late += tick - born > 6
        return place


class Road:
    def __init__(self, rng):
        self.rng = rng
        self.jams = 0
        self.slow = 1.0

    def change(self):
        self.slow = 0.9 * self.slow + 0.1 * (1.0 + float(self.rng.exponential(0.5)))
        self.jams += self.slow > 1.7


def main(run):
    settings = profile()
    depot = Depot(Policy(settings, noon=24))
    vans = run.track("vans", [Van("red", 0), Van("blue", 12), Van("green", 23)])
    books = run.track("books", {"late": 0, "open": 0, "fuel": 0.0})
    road = run.track("road", Road(run.rng("road")))
    orders, fuel = run.rng("orders"), run.rng("fuel")
    colours = {van.name for van in vans}
    for tick in run.ticks(48):
        depot.receive(orders, tick)
        road.change()
        for van in vans:  # innocent
            place = depot.assign(van, tick)
            if place is not None and van.name in colours:  # innocent
                van.drive(place)
                books["fuel"] += 0.2 + 0.01 * float(fuel.random())
        books["late"], books["open"] = depot.late, len(depot.orders)  # innocent
