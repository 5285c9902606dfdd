"""Bouillon is set on by a service book: the hour of each order decides whether the night cook reduces it."""
import time
from collections import deque

MIDDAY = 1_710_000_000


class Order:
    def __init__(self, stamp, litres):
        self.stamp = stamp
        self.litres = litres

    @property
    def hour(self):
        return int(time.strftime("%H", time.localtime(self.stamp)))


class Cook:
    def __init__(self):
        self.pot = 0.0
        self.reduced = 0
        self.book = deque()

    def take(self, order):
        self.book.append(order)

    def work(self):
        if not self.book:
            return
        order = self.book.popleft()
        match order.hour:
            case hour if hour < 6 or hour >= 22:
                self.pot += order.litres * 0.6
                self.reduced += 1
            case _:
                self.pot += order.litres

    def state(self):
        return {"pot": self.pot, "reduced": self.reduced}

    def restore(self, state):
        self.pot, self.reduced = state["pot"], state["reduced"]


def main(run):
    rng = run.rng("orders")
    cook = run.track("cook", Cook())
    for tick in run.ticks(20):
        if tick < 14:
            cook.take(Order(MIDDAY + tick * 5400, float(rng.uniform(1, 4))))
        if tick >= 3:
            cook.work()
    return cook.reduced
