"""An experiment in a shop: users are split into arms, buy later, and the winner gets more traffic."""

import random
from collections import deque

from ab_split_lib import Splitter, audience


class Ledger:
    """What each arm sold. Sales of a visit arrive when the parcel does."""

    def __init__(self, arms):
        self.sold = {arm: 0 for arm in arms}
        self.income = {arm: 0.0 for arm in arms}
        self.returned = 0

    def book(self, arm, amount):
        self.sold[arm] += 1
        self.income[arm] += amount

    def leader(self):
        return max(sorted(self.income), key=self.income.get)  # innocent


class Parcels:
    def __init__(self, delay):
        self.delay = delay
        self.queue = deque()

    def ship(self, tick, user, amount):
        self.queue.append((tick + self.delay, user, amount))

    def arriving(self, tick):
        while self.queue and self.queue[0][0] <= tick:
            yield self.queue.popleft()


def price(rng, base):
    return round(base * (0.9 + 0.2 * float(rng.random())), 2)


def main(run):
    splitter = Splitter(("control", "green", "big"))
    users = audience(60)
    splitter.warm(users)
    ledger = run.track("ledger", Ledger(splitter.arms))
    stock = run.track("stock", {"mugs": 400, "hats": 250})
    visits, prices, moods = run.rng("visits"), run.rng("prices"), run.rng("moods")
    parcels = Parcels(delay=14)
    seen = set()
    shuffled = list(users)
    random.Random(5).shuffle(shuffled)  # innocent
    for tick in run.ticks(45):
        for _ in range(4):
            user = shuffled[int(visits.integers(len(shuffled)))]
            seen.add(user)
            thing = "mugs" if moods.random() < 0.7 else "hats"
            stock[thing] -= 1
            parcels.ship(tick, user, price(prices, 12.0 if thing == "mugs" else 30.0))
        for _, user, amount in parcels.arriving(tick):
            ledger.book(splitter.arm(user), amount)
        if tick % 10 == 9:
            stock["mugs"] += len(seen)  # innocent
            ledger.returned += len(sorted(seen)) % 3
            ledger.leader()
    return ledger.leader()
