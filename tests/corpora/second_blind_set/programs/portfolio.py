"""A portfolio that is rebalanced against an index; risk is reported at the end of the month."""

import math

WEIGHTS = {
    "AAL": 0.1013, "BHP": 0.2207, "CRH": 0.0491, "DGE": 0.1379, "EXP": 0.0773,
    "FRE": 0.1111, "GSK": 0.0937, "HSB": 0.1291, "IAG": 0.0798,
}


class Market:
    def __init__(self, rng):
        self.rng = rng
        self.price = {name: 100.0 for name in WEIGHTS}

    def day(self):
        moves = self.rng.normal(0.0003, 0.013, size=len(self.price))
        for name, move in zip(sorted(self.price), moves):
            self.price[name] *= math.exp(float(move))

    def state(self):
        return dict(self.price)

    def restore(self, state):
        self.price = dict(state)


class Basket:
    """Names that are held; a name can be suspended for a while."""

    def __init__(self, names):
        self.names = set(names)

    def suspend(self, name):
        self.names.discard(name)

    def readmit(self, name):
        self.names.add(name)

    def level(self, price):
        return sum(WEIGHTS[name] * price[name] for name in self.names)


class Risk:
    def __init__(self):
        self.levels = []
        self.volatility = 0.0
        self.months = 0

    def note(self, level):
        self.levels.append(level)

    def month_end(self):
        steps = [math.log(b / a) for a, b in zip(self.levels, self.levels[1:])]
        mean = math.fsum(steps) / len(steps)
        self.volatility = math.sqrt(math.fsum((step - mean) ** 2 for step in steps) / len(steps))
        self.months += 1
        self.levels = self.levels[-1:]

    def state(self):
        return {"volatility": self.volatility, "months": self.months}

    def restore(self, state):
        self.volatility, self.months = state["volatility"], state["months"]


def main(run):
    market = run.track("market", Market(run.rng("market")))
    risk = run.track("risk", Risk())
    basket = Basket(WEIGHTS)
    for day in run.ticks(63):
        market.day()
        if day == 10:
            basket.suspend("EXP")
        if day == 15:
            basket.readmit("EXP")
        risk.note(basket.level(market.price))
        if day % 21 == 20:
            risk.month_end()
