"""Thunderstorm cells: reserves wait in a generator until the early ones decay."""


class Cell:
    def __init__(self, label, charge):
        self.label, self.charge = label, charge

    def __eq__(self, other):
        return isinstance(other, Cell) and self.label == other.label

    def __hash__(self):
        return hash(self.label)

    def decay(self, rate):
        self.charge -= rate
        return self.charge > 0


def reserve_queue(cells):
    pool = set(cells)
    order = []
    while pool:
        order.append(pool.pop())
    return order


def arrivals(early, reserves):
    yield from early
    yield from reserves


class Sky:
    def __init__(self, source, slots):
        self.source = source
        self.active = [next(source) for _ in range(slots)]
        self.strikes = 0

    def step(self, rates):
        survivors = []
        for cell, rate in zip(self.active, rates):
            if cell.decay(float(rate)):
                survivors.append(cell)
            else:
                self.strikes += 1
                replacement = next(self.source, None)
                if replacement is not None:
                    survivors.append(replacement)
        self.active = survivors

    def state(self):
        return {"strikes": self.strikes,
                "active": [(c.label, round(c.charge, 3)) for c in self.active]}

    def restore(self, state):
        self.strikes = state["strikes"]


def main(run):
    rng = run.rng("sky")
    early = [Cell(f"early-{i}", 9.0 + 2 * i) for i in range(3)]
    reserves = reserve_queue([Cell(n, 7.0 + len(n)) for n in
                              ("anvil", "bow", "derecho", "hook", "mammatus", "shelf", "wall")])
    sky = run.track("sky", Sky(arrivals(early, reserves), slots=3))
    for _ in run.ticks(26):
        sky.step(rng.uniform(0.5, 1.5, size=3))
    return sky.strikes
