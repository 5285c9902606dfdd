"""A regatta of many boats: points after each race, and a ladder from which the heats are drawn."""

import numpy as np

BOATS = 240


class Regatta:
    def __init__(self, wind):
        self.wind = wind
        self.points = np.zeros(BOATS, dtype=np.int64)
        self.heat = np.zeros(BOATS, dtype=np.int64)
        self.wins = {}

    def sail(self, day):
        """Give each boat the points of its place within its heat."""
        speed = self.wind.random(BOATS)
        for heat in range(6):
            members = np.flatnonzero(self.heat == heat)
            if members.size == 0:
                continue
            order = members[np.lexsort((members, speed[members]))]
            self.points[order[-3:]] += np.array([1, 2, 3])[-order.size :]
            winner = f"boat {int(order[-1]):02d}"
            self.wins[winner] = self.wins.get(winner, 0) + 1

    def draw_heats(self):
        """Spread the ladder over six heats, so that strong boats meet late."""
        ladder = np.argsort(-self.points)
        self.heat[ladder] = np.arange(BOATS) % 6

    def step(self, day):
        self.sail(day)
        if day % 3 == 2:
            self.draw_heats()


def main(run):
    regatta = run.track("regatta", Regatta(run.rng("wind")))
    regatta.heat[:] = np.arange(BOATS) // 40
    for day in run.ticks(15):
        regatta.step(day)
    return max(regatta.wins.values())
