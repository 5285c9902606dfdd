"""Freight yard: wagons stand in a pool until an inspector passes one for the next train."""


class Wagon:
    def __init__(self, company, number, tare):
        self.company = company
        self.number = number
        self.tare = tare
        self.fails = 0

    def __hash__(self):
        return hash((self.company, self.number))

    def __eq__(self, other):
        return (self.company, self.number) == (other.company, other.number)

    @property
    def label(self):
        return f"{self.company}{self.number}"

    @property
    def soundness(self):
        return max(0.15, 0.9 - self.tare / 30 - 0.05 * self.fails)


class Yard:
    def __init__(self, rng):
        self.rng = rng
        self.pool = set()
        self.siding = []
        self.trains = []
        self.inspections = 0

    def arrive(self, wagons):
        self.pool.update(wagons)

    def inspect(self):
        while self.pool:
            wagon = self.pool.pop()
            self.inspections += 1
            if self.rng.random() < wagon.soundness:
                return wagon
            wagon.fails += 1
            self.siding.append(wagon)
        return None

    def make_train(self, length):
        train = []
        while len(train) < length and (wagon := self.inspect()) is not None:
            train.append(wagon)
        self.trains.append(sum(w.tare for w in train))
        self.pool.update(self.siding)
        self.siding.clear()

    def state(self):
        return {"pool": sorted(w.label for w in self.pool), "trains": list(self.trains),
                "inspections": self.inspections}

    def restore(self, state):
        self.trains = list(state["trains"])
        self.inspections = state["inspections"]


def consignments(rng):
    number = 100
    while True:
        batch = []
        for company in ("LNER", "GWR", "LMS"):
            batch.append(Wagon(company, number, int(rng.integers(6, 18))))
            number += 1
        yield batch


def main(run):
    yard = run.track("yard", Yard(run.rng("inspector")))
    incoming = consignments(run.rng("wagons"))
    for tick in run.ticks(18):
        yard.arrive(next(incoming))
        if tick >= 2:
            yard.make_train(2)
    return {"tons": sum(yard.trains), "left": len(yard.pool)}
