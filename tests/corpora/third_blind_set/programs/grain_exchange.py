"""A grain exchange: members quote in the opening round, mills buy later in the season."""

from collections import namedtuple

from sortedcontainers import SortedDict, SortedKeyList

Order = namedtuple("Order", "price quantity owner placed")

MEMBERS = ["Abel", "Bruun", "Castor", "Dray", "Egger", "Falk", "Gorm", "Hale", "Iver", "Jost", "Kern", "Lund"]


class Book:
    """Resting offers, cheapest first; first come, first served among equals."""

    def __init__(self):
        self.offers = SortedKeyList(key=lambda order: order.price)
        self.levels = SortedDict()

    def rest(self, order):
        self.offers.add(order)
        self.levels[order.price] = self.levels.get(order.price, 0) + order.quantity

    def take(self, wanted, limit):
        fills = []
        while wanted and self.offers and self.offers[0].price <= limit:
            best = self.offers.pop(0)
            amount = min(wanted, best.quantity)
            fills.append((best.owner, amount, best.price))
            wanted -= amount
            self.levels[best.price] -= amount
            if best.quantity > amount:
                self.offers.add(best._replace(quantity=best.quantity - amount))
        return fills


class Exchange:
    def __init__(self, weather, mills):
        self.weather, self.mills = weather, mills
        self.book = Book()
        self.suspended = {"Dray"}
        self.cash = {name: 0 for name in MEMBERS}
        self.stock = {name: 120 for name in MEMBERS}
        self.reference = 100
        self.traded = 0

    def entitled(self):
        names = {name for name in MEMBERS if self.stock[name] >= 20}
        return names - self.suspended

    def quote_round(self, tick):
        spread = int(self.weather.integers(-2, 3))
        for name in self.entitled():
            ask = self.reference + spread + len(name) % 3
            self.book.rest(Order(ask, 15, name, tick))
            self.stock[name] -= 15

    def drift(self):
        self.reference += int(self.weather.integers(-1, 2))

    def mill_buys(self):
        wanted = int(self.mills.integers(10, 40))
        for owner, amount, price in self.book.take(wanted, self.reference + 6):
            self.cash[owner] += amount * price
            self.traded += amount

    def review(self):
        poorest = min(MEMBERS, key=lambda name: (self.cash[name], name))
        if self.traded > 150:
            self.suspended = {poorest}

    def step(self, tick):
        self.drift()
        if tick in (2, 3):
            self.quote_round(tick)
        if tick >= 14:
            self.mill_buys()
        if tick % 10 == 9:
            self.review()

    def state(self):
        return {
            "cash": dict(self.cash), "stock": dict(self.stock), "reference": self.reference,
            "levels": [[price, quantity] for price, quantity in self.book.levels.items()], "traded": self.traded,
        }

    def restore(self, state):
        self.cash, self.stock = dict(state["cash"]), dict(state["stock"])
        self.reference, self.traded = state["reference"], state["traded"]
        self.book.levels = SortedDict(state["levels"])


def main(run):
    exchange = run.track("exchange", Exchange(run.rng("weather"), run.rng("mills")))
    for tick in run.ticks(28):
        exchange.step(tick)
