"""Packing house: pears are graded into sets of crate labels; all that leaves the sets are counts and whole-number sums."""
from collections import Counter, defaultdict

VARIETIES = ["comice", "conference", "concorde", "anjou", "williams", "winter nelis"]


class Crate:
    def __init__(self, variety, number, pears):
        self.label = f"{variety}-{number:03d}"
        self.variety, self.pears = variety, pears

    def __hash__(self):
        return hash(self.label)

    def __eq__(self, other):
        return self.label == other.label


class Lane:
    """A lane of the sorter: a set of crates, whatever their order."""

    def __init__(self):
        self.crates = set()

    def load(self, crates):
        self.crates |= set(crates)

    def pears(self):
        total = 0
        for crate in self.crates:
            total += crate.pears
        return total

    def varieties(self):
        return Counter(crate.variety for crate in self.crates)

    def heaviest(self):
        return max((crate.pears for crate in self.crates), default=0)


class House:
    def __init__(self):
        self.lanes = defaultdict(Lane)
        self.shipped = 0
        self.seen = set()

    def state(self):
        return {
            "pears": {grade: lane.pears() for grade, lane in sorted(self.lanes.items())},
            "heaviest": {grade: lane.heaviest() for grade, lane in sorted(self.lanes.items())},
            "shipped": self.shipped,
            "seen": sorted(self.seen),
        }

    def restore(self, state):
        self.shipped = state["shipped"]
        self.seen = set(state["seen"])

    def receive(self, batch):
        grades = defaultdict(set)
        for crate in batch:
            grades[crate.pears // 40].add(crate)
        for grade in grades.keys():
            self.lanes[f"grade {grade}"].load(grades[grade])
        self.seen.update({crate.variety for crate in batch})

    def ship(self):
        """Every full lane is emptied."""
        full = {name for name, lane in self.lanes.items() if len(lane.crates) >= 9}
        for name in full:
            self.shipped += self.lanes[name].pears()
            self.lanes[name].crates.clear()


def harvest(rng, tick):
    for k in range(int(rng.integers(3, 8))):
        variety = VARIETIES[int(rng.integers(len(VARIETIES)))]
        yield Crate(variety, tick * 10 + k, int(rng.integers(20, 140)))


def main(run):
    rng = run.rng("harvest")
    house = run.track("house", House())
    for tick in run.ticks(25):
        house.receive(set(harvest(rng, tick)))
        house.ship()
    lane_sizes = sum(len(lane.crates) for lane in house.lanes.values())
    run.compare("left", lane_sizes)
    return house.shipped
