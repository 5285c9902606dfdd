"""Fruit tree nursery: scions are put into the cold store as pickles in autumn and grown on in spring."""
import pickle
import random
from dataclasses import dataclass, field

ORDERS = [("Bramley", "M26"), ("Discovery", "MM106"), ("Egremont", "M9"), ("Ashmead", "M26"), ("Orleans", "M25")]


@dataclass
class Scion:
    variety: str
    stock: str
    buds: int = 3
    height: float = 12.0
    luck: random.Random = field(default=None, repr=False)

    def grow(self, warmth):
        """A season's growth: every bud may break, and taller wood grows faster."""
        broken = sum(1 for _ in range(self.buds) if self.luck.random() < warmth)
        self.height += broken * (1.0 + self.height / 60.0)
        if broken == self.buds and self.buds < 7:
            self.buds += 1
        return broken


def graft(variety, stock):
    """Each graft has its own luck, tied to the label on the tag."""
    tag = f"{variety}/{stock}"
    luck = random.Random(hash(tag))
    return Scion(variety, stock, luck=luck)


class ColdStore:
    def __init__(self):
        self._boxes = {}

    def put(self, scion):
        self._boxes[scion.variety] = pickle.dumps(scion)

    def thaw(self):
        """Bring everything out, in order of the label."""
        for name in sorted(self._boxes):
            yield pickle.loads(self._boxes.pop(name))

    def __len__(self):
        return len(self._boxes)


class Nursery:
    def __init__(self):
        self.beds = []
        self.warmth = 0.1
        self.stored = 0

    def state(self):
        return {
            "warmth": round(self.warmth, 4),
            "stored": self.stored,
            "trees": {s.variety: [s.buds, round(s.height, 4)] for s in self.beds},
        }

    def restore(self, state):
        self.warmth = state["warmth"]
        self.stored = state["stored"]
        for scion in self.beds:
            scion.buds, scion.height = state["trees"].get(scion.variety, [scion.buds, scion.height])

    def season(self):
        for scion in self.beds:
            scion.grow(self.warmth)


def main(run):
    weather = run.rng("weather")
    store = ColdStore()
    for variety, stock in ORDERS:
        store.put(graft(variety, stock))
    nursery = run.track("nursery", Nursery())
    for tick in run.ticks(25):
        nursery.warmth = min(0.9, max(0.05, nursery.warmth + float(weather.normal(0.03, 0.02))))
        nursery.stored = len(store)
        if tick == 9:
            nursery.beds.extend(store.thaw())
        if tick > 9:
            nursery.season()
    run.compare("beds", len(nursery.beds))
    return [round(s.height, 3) for s in nursery.beds]
