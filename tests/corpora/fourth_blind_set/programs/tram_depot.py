"""A tram depot: cars are kept sorted by mileage, the least used go out, some come back to the works."""
from sortedcontainers import SortedKeyList, SortedDict

CARS = frozenset({"Ada", "Bela", "Cleo", "Dora", "Edda", "Frida", "Gerda", "Hilda", "Irma", "Jutta"})


class Shed:
    def __init__(self, names):
        self.mileage = dict.fromkeys(sorted(names), 0)
        self.rack = SortedKeyList(names, key=self.mileage.__getitem__)
        self.works = SortedDict()
        self.out = []

    def leave(self, count):
        self.out = [self.rack.pop(0) for _ in range(min(count, len(self.rack)))]

    def back(self, tick, rng):
        for car in self.out:
            self.mileage[car] += int(rng.integers(40, 120)) // 20 * 20
            if rng.random() < 0.15:
                self.works[(tick + 3, car)] = car
            else:
                self.rack.add(car)
        self.out = []

    def repaired(self, tick):
        while self.works and self.works.peekitem(0)[0][0] <= tick:
            _, car = self.works.popitem(0)
            self.rack.add(car)


class Depot(Shed):
    def __init__(self, names):
        super().__init__(names)
        self.days = 0
        self.duty = []

    def day(self, tick, rng):
        self.repaired(tick)
        self.leave(4)
        self.duty = list(self.out)
        self.back(tick, rng)
        self.days += 1

    def state(self):
        return {"mileage": dict(self.mileage), "days": self.days, "rack": len(self.rack)}

    def restore(self, state):
        self.mileage.update(state["mileage"])
        self.days = state["days"]


def main(run):
    depot = run.track("depot", Depot(CARS))
    rng = run.rng("lines")
    for tick in run.ticks(20):
        depot.day(tick, rng)
    return max(depot.mileage.values())
