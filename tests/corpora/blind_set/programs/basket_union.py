"""A shop that packs baskets: baskets are joined, and packed item by item into boxes that hold so much."""

from dataclasses import dataclass

WEIGHTS = {"flour": 1000, "sugar": 500, "tea": 125, "rice": 900, "oil": 750, "salt": 250, "soap": 300, "jam": 450, "nuts": 200, "pasta": 600}


class Basket:
    """Items, each once. Baskets join with |, and can be walked."""

    def __init__(self, items=()):
        self._items = frozenset(items)

    def __or__(self, other):
        return Basket(self._items | other._items)

    def __len__(self):
        return len(self._items)

    def __contains__(self, item):
        return item in self._items

    def __iter__(self):
        for item in self._items:  # guilty
            yield item

    def weight(self):
        return sum(WEIGHTS[item] for item in sorted(self._items))  # innocent


@dataclass
class Boxes:
    room: int
    left: int = 0
    used: int = 0
    air: int = 0

    def pack(self, basket):
        """First fit: an item that does not fit opens a new box."""
        for item in basket:
            if WEIGHTS[item] > self.left:
                self.air += self.left
                self.left = self.room
                self.used += 1
            self.left -= WEIGHTS[item]


def shopper(rng):
    names = sorted(WEIGHTS)
    count = 1 if rng.random() < 0.6 else 4
    return Basket(names[int(i)] for i in rng.choice(len(names), size=count, replace=False))


def main(run):
    boxes = run.track("boxes", Boxes(room=1200))
    till = run.track("till", {"baskets": 0, "grams": 0, "tips": 0.0, "tea": 0})
    arrivals, tips = run.rng("arrivals"), run.rng("tips")
    bag = Basket()
    for tick in run.ticks(36):
        basket = shopper(arrivals)
        till["baskets"] += 1
        till["grams"] += basket.weight()
        till["tips"] += round(float(tips.random()), 2)
        till["tea"] += "tea" in basket  # innocent
        bag = bag | basket if tick % 3 else basket
        if tick % 6 == 5 and len(bag) > 1:
            boxes.pack(bag)
        if len({*WEIGHTS} - {"tea"}) != 9:  # innocent
            raise ValueError("the list of weights has changed")
