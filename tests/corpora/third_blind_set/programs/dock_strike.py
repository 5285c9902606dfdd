"""Wages at the docks: employers and unions bargain when contracts run out; some unions call a strike."""

import numpy as np


class Union:
    def __init__(self, name, members, expires, temper=None):
        self.name, self.members, self.expires = name, members, expires
        self.temper = temper if temper is not None else np.random.default_rng()
        self.wage = self.asked = 100.0
        self.strike = 0
        self.fund = 40.0

    def demand(self, prices):
        self.asked = max(self.wage, 100.0 * prices * (1.0 + 0.03 * self.temper.random()))
        return self.asked

    def answer(self, offer, prices):
        """Yes, or a strike of some weeks."""
        gap = self.demand(prices) - offer
        if gap <= 0 or self.temper.random() > 0.6 + 0.05 * gap:
            self.wage = max(self.wage, offer)
            self.expires += 18
            return True
        self.strike = 1 + int(self.temper.integers(0, 3))
        return False


class Employers:
    def __init__(self, profits):
        self.profits = profits
        self.margin = 6.0
        self.losses = 0.0

    def close_year(self):
        self.margin = max(1.0, self.margin + 0.3 * float(self.profits.normal()))

    def offer(self, union):
        return union.wage * (1.0 + self.margin / 400.0) + 0.5 * self.losses / 100


class Docks:
    def __init__(self, run):
        self.inflation = run.rng("inflation")
        self.employers = Employers(run.rng("profits"))
        self.unions = self.found(run)
        self.prices = 1.0
        self.moved = 0.0
        self.history = []

    def found(self, run):
        """The crane drivers came last, from another federation."""
        unions = [Union("stevedores", 320, 4, run.rng("temper/stevedores")),
                  Union("tally clerks", 90, 9, temper=run.rng("temper/clerks"))]
        unions.append(Union("crane drivers", 60, 17))
        return unions

    def bargain(self, week):
        for union in self.unions:
            if union.strike:
                union.strike -= 1
                union.fund -= 2.5
                self.employers.losses += union.members / 60
            elif week >= union.expires:
                agreed = union.answer(self.employers.offer(union), self.prices)
                self.history.append([week, union.name, agreed])

    def week(self, number):
        self.prices *= 1.0 + 0.004 * float(self.inflation.random())
        self.employers.close_year()
        self.bargain(number)
        at_work = sum(union.members for union in self.unions if not union.strike)
        self.moved += at_work * 0.11

    def state(self):
        return {
            "prices": self.prices, "moved": self.moved, "history": [list(entry) for entry in self.history],
            "margin": self.employers.margin, "losses": self.employers.losses,
            "unions": {union.name: [union.wage, union.asked, union.strike, union.fund] for union in self.unions},
        }

    def restore(self, state):
        self.prices, self.moved = state["prices"], state["moved"]
        self.history = [list(entry) for entry in state["history"]]
        self.employers.margin, self.employers.losses = state["margin"], state["losses"]
        for union in self.unions:
            union.wage, union.asked, union.strike, union.fund = state["unions"][union.name]


def main(run):
    docks = run.track("docks", Docks(run))
    for week in run.ticks(50):
        docks.week(week)
