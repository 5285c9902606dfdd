"""A clearing house: what members owe each other is netted exactly, in whatever order it is met."""

import math
from dataclasses import dataclass


@dataclass
class Account:
    name: str
    balance: float = 0.0
    turnover: float = 0.0

    def book(self, amount):
        self.balance = math.fsum((self.balance, amount))
        self.turnover += abs(amount)


class House:
    """Debts by pair of members."""

    def __init__(self, names):
        self.names = tuple(names)
        self.debts = {}

    def owe(self, debtor, creditor, amount):
        pair = (debtor, creditor)
        self.debts[pair] = self.debts.get(pair, 0.0) + amount

    def partners(self, name):
        return {a if b == name else b for a, b in self.debts if name in (a, b)}

    def net(self, name):
        """Exact: fsum rounds once, so the order of the partners is of no importance."""
        return math.fsum(  # innocent
            self.debts.get((other, name), 0.0) - self.debts.get((name, other), 0.0) for other in self.partners(name)
        )

    def largest(self, name):
        return max((self.debts.get((name, other), 0.0) for other in self.partners(name)), default=0.0)  # innocent


def trades(rng, names, count):
    for _ in range(count):
        a, b = rng.choice(len(names), size=2, replace=False)
        yield names[int(a)], names[int(b)], float(rng.lognormal(3.0, 2.0))


class Rates:
    def __init__(self, rng):
        self.rng = rng
        self.rate = 0.03

    def move(self, stress):
        self.rate += 0.0001 * float(self.rng.normal()) + 1e-9 * stress


def main(run):
    names = [f"bank-{letter}{k}" for k in range(4) for letter in "abcdef"]
    house = House(names)
    accounts = run.track("accounts", {name: Account(name) for name in names})
    rates = run.track("rates", Rates(run.rng("rates")))
    flow = run.rng("flow")
    touched = set()
    for _ in run.ticks(20):
        for debtor, creditor, amount in trades(flow, names, 60):
            house.owe(debtor, creditor, amount)
            touched |= {debtor, creditor}
        for name in touched:  # innocent
            accounts[name].book(house.net(name))
        rates.move(max(house.largest(name) for name in touched))  # innocent
        touched.clear()
        house.debts.clear()
