"""A dessert trolley: a dict is filled in set order, and only looked up by name."""


def prices(names):
    return {name: 4 + len(name) for name in frozenset(names)}


class Trolley:
    def __init__(self, stock):
        self.stock = stock
        self.takings = 0

    def sell(self, name, price):
        if self.stock[name] > 0:
            self.stock[name] -= 1
            self.takings += price
            return True
        return False

    def refill(self):
        for name in sorted(self.stock):
            self.stock[name] += 1

    def state(self):
        return {"stock": {n: self.stock[n] for n in sorted(self.stock)}, "takings": self.takings}

    def restore(self, state):
        self.stock, self.takings = dict(state["stock"]), state["takings"]


def menu_total(card):
    return sum(card.values()), max(card.values()), len(card)


NAMES = ["trifle", "pavlova", "sorbet", "tiramisu", "crumble"]


def main(run):
    rng = run.rng("tables")
    card = prices(NAMES)
    trolley = run.track("trolley", Trolley({name: 3 for name in card}))
    refused = 0
    for tick in run.ticks(20):
        for _ in range(2):
            name = NAMES[int(rng.integers(len(NAMES)))]
            if not trolley.sell(name, card[name]):
                refused += 1
        if tick % 3 == 2:
            trolley.refill()
    run.compare("card", menu_total(card))
    return refused
