"""Rock samples from a scree slope: bags are pickled to the hut and unpacked there weeks later."""
import io
import pickle
from collections import deque

MINERALS = ["quartz", "mica", "feldspar", "garnet", "hornblende", "calcite", "epidote", "zircon"]
HARDNESS = {"quartz": 7.0, "mica": 2.5, "feldspar": 6.0, "garnet": 7.5,
            "hornblende": 5.5, "calcite": 3.0, "epidote": 6.5, "zircon": 7.6}


class Bag:
    """A sealed bag; what was seen in it is kept as a set so nothing is listed twice."""

    def __init__(self, height, minerals=()):
        self.height = height
        self.minerals = set(minerals)

    def add(self, mineral):
        self.minerals.add(mineral)

    def __len__(self):
        return len(self.minerals)

    def __reduce__(self):
        return _unpack, (self.height, tuple(self.minerals))


class OpenBag:
    def __init__(self, height, minerals):
        self.height, self.minerals = height, minerals

    def scratch_test(self, wear):
        """Scratch each mineral in turn; the needle blunts as it goes."""
        marks = 0.0
        for mineral in self.minerals:
            marks += max(0.0, 9 - HARDNESS[mineral]) * wear
            wear *= 0.93 if HARDNESS[mineral] > 6 else 0.99
        return marks, wear


def _unpack(height, minerals):
    return OpenBag(height, list(minerals))


class Mule:
    """Carries bytes down; nothing is looked at on the way."""

    def __init__(self, days):
        self.days = days
        self.load = deque()

    def send(self, day, bags):
        buffer = io.BytesIO()
        pickle.dump(bags, buffer)
        self.load.append((day + self.days, buffer.getvalue()))

    def arrive(self, day):
        while self.load and self.load[0][0] <= day:
            yield from pickle.loads(self.load.popleft()[1])


class Hut:
    def __init__(self):
        self.needle = 1.0
        self.tested = 0
        self.marks = 0.0
        self.collected = 0

    def test(self, bag):
        marks, self.needle = bag.scratch_test(self.needle)
        self.marks += marks
        self.tested += 1
        if self.needle < 0.3:
            self.needle = 1.0

    def state(self):
        return {"needle": round(self.needle, 9), "tested": self.tested,
                "marks": round(self.marks, 9), "collected": self.collected}

    def restore(self, state):
        self.needle, self.tested = state["needle"], state["tested"]
        self.marks, self.collected = state["marks"], state["collected"]


def collect(rng, height):
    bag = Bag(height)
    for pick in rng.integers(len(MINERALS), size=6):
        bag.add(MINERALS[int(pick)])
    return bag


def main(run):
    rng = run.rng("slope")
    mule, hut = Mule(days=14), Hut()
    run.track("hut", hut)
    for day in run.ticks(24):
        bags = [collect(rng, 2200 + 20 * day + n) for n in range(3)]
        hut.collected += sum(len(bag) for bag in bags)
        mule.send(day, bags)
        for bag in mule.arrive(day):
            hut.test(bag)
    return round(hut.marks, 6)
