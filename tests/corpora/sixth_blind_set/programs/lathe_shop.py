"""A turning shop: jobs go to the lathe that holds their tooling, and spill over when it is full."""
from collections import deque
from bisect import bisect_right

LATHES = ["Myford", "Boxford", "Colchester", "Harrison", "Schaublin"]
PARTS = ["bush", "collar", "spindle", "gland", "flange", "pinion", "knob", "sleeve"]
ROOM = 6


def digest(label):
    """A cheap stable-looking fingerprint for ring positions."""
    return hash(label) & 0xFFFF


class Ring:
    """Consistent hashing of overflow work over the lathes."""

    def __init__(self, lathes, copies=3):
        points = [(digest(f"{lathe}#{n}"), lathe) for lathe in lathes for n in range(copies)]
        points.sort()
        self.keys = [key for key, _ in points]
        self.owners = [owner for _, owner in points]

    def after(self, value, avoid):
        start = bisect_right(self.keys, value)
        for step in range(len(self.keys)):
            owner = self.owners[(start + step) % len(self.keys)]
            if owner not in avoid:
                return owner
        raise LookupError("every lathe is full")


class Shop:
    def __init__(self, ring):
        self.ring = ring
        self.queues = {lathe: deque() for lathe in LATHES}
        self.done = 0
        self.scrapped = 0

    def full(self):
        return {lathe for lathe, queue in self.queues.items() if len(queue) >= ROOM}

    def home(self, part):
        return LATHES[PARTS.index(part) % 2]

    def take(self, part, minutes):
        lathe = self.home(part)
        crowded = self.full()
        if lathe in crowded:
            if len(crowded) == len(LATHES):
                self.scrapped += 1
                return
            lathe = self.ring.after(minutes * 977, crowded)
        self.queues[lathe].append([part, minutes])

    def turn(self, minutes):
        for queue in self.queues.values():
            left = minutes
            while queue and left:
                used = min(left, queue[0][1])
                queue[0][1] -= used
                left -= used
                if queue[0][1] == 0:
                    queue.popleft()
                    self.done += 1

    def state(self):
        return {"done": self.done, "scrapped": self.scrapped,
                "queued": {lathe: len(queue) for lathe, queue in self.queues.items()}}

    def restore(self, state):
        self.done, self.scrapped = state["done"], state["scrapped"]


def main(run):
    orders = run.rng("orders")
    shop = Shop(Ring(LATHES))
    run.track("shop", shop)
    for tick in run.ticks(24):
        for _ in range(1 + tick // 7):
            part = PARTS[int(orders.integers(len(PARTS)))]
            shop.take(part, int(orders.integers(9, 60)))
        shop.turn(25)
    return shop.done
