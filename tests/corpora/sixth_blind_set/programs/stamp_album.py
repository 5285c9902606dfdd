"""Stamp club: members hand in stamps, the album keeper files them and sells doubles once a page is full."""
from collections import deque

COUNTRIES = ["Norway", "Chile", "Ceylon", "Malta", "Peru", "Egypt", "Tonga", "Latvia", "Ghana", "Fiji"]
PAGE = 24


class Stamp:
    __slots__ = ("country", "year", "cents")

    def __init__(self, country, year, cents):
        self.country, self.year, self.cents = country, year, cents

    def __eq__(self, other):
        return isinstance(other, Stamp) and (self.country, self.year) == (other.country, other.year)

    def __hash__(self):
        return hash((self.country, self.year))


class Wantlist:
    """What the club is after; the keeper looks up how keen it is on a country."""

    def __init__(self, stamps):
        self.stamps = set(stamps)
        self.keenness = {s.country: place for place, s in enumerate(self.stamps)}

    def keen(self, stamp):
        return self.keenness.get(stamp.country, len(self.keenness))


class Album:
    def __init__(self, wants):
        self.wants = wants
        self.page = []
        self.sold = 0
        self.till = 0
        self.swaps = []

    def file(self, stamp):
        self.page.append(stamp)
        if len(self.page) > PAGE:
            self.sell_one()

    def sell_one(self):
        least = max(range(len(self.page)), key=lambda i: (self.wants.keen(self.page[i]), i))
        gone = self.page.pop(least)
        self.sold += 1
        self.till += gone.cents
        self.swaps.append(f"{gone.country}-{gone.year}")
        del self.swaps[:-5]

    def state(self):
        return {"filed": len(self.page), "sold": self.sold, "till": self.till, "swaps": list(self.swaps)}

    def restore(self, state):
        self.sold, self.till, self.swaps = state["sold"], state["till"], list(state["swaps"])


def post_bag(rnd, size):
    for _ in range(size):
        year = rnd.randint(1890, 1960)
        yield Stamp(rnd.choice(COUNTRIES), year, 5 + (1960 - year) // 3 + rnd.randint(0, 9))


def main(run):
    rnd = run.streams.python("post")
    wants = Wantlist(Stamp(name, 1901 + 3 * i, 0) for i, name in enumerate(COUNTRIES))
    album = run.track("album", Album(wants))
    counter = run.track("counter", {"waiting": 0, "received": 0})
    waiting = deque()
    for tick in run.ticks(30):
        waiting.extend(post_bag(rnd, 1 + (tick % 3 == 0)))
        counter["received"] += len(waiting)
        for _ in range(min(2, len(waiting))):
            album.file(waiting.popleft())
        counter["waiting"] = len(waiting)
    return {"till": album.till, "page": len(album.page)}
