"""Electricity tariffs: customers ask for a quote, the desk answers from a memoised table."""

from functools import lru_cache

ZONES = {
    "north": {"base", "peak", "wind"},
    "south": {"base", "peak", "solar", "export"},
    "island": {"base", "diesel", "storm", "ferry"},
    "valley": {"base", "hydro", "peak", "flood"},
}
RATES = {
    "base": 11, "peak": 23, "wind": 5, "solar": 7, "export": 3,
    "diesel": 41, "storm": 17, "ferry": 29, "hydro": 6, "flood": 13,
}


@lru_cache(maxsize=None)
def components(zone):
    """The price components of a zone, ready to be folded."""
    return tuple(ZONES[zone])


@lru_cache(maxsize=64)
def season_factor(week):
    return 100 + (week * 7) % 13


def fold(parts, load):
    """Each component is charged on what the one before it left over."""
    rest, price = load, 0
    for part in parts:
        taken = rest * (30 + len(part)) // 100
        price += taken * RATES[part]
        rest -= taken
    return price, rest


class Desk:
    def __init__(self, arrivals):
        self.arrivals = arrivals
        self.quotes = 0
        self.revenue = 0
        self.unserved = 0

    def warm_up(self):
        """Fill the caches before the doors open."""
        return sum(len(components(zone)) for zone in ZONES)

    def quote(self, zone, load, week):
        price, rest = fold(components(zone), load)
        self.quotes += 1
        self.unserved += rest
        self.revenue += price * season_factor(week) // 100

    def state(self):
        return {"quotes": self.quotes, "revenue": self.revenue, "unserved": self.unserved}

    def restore(self, state):
        self.quotes, self.revenue, self.unserved = state["quotes"], state["revenue"], state["unserved"]


def demand(rng, week):
    """Nobody signs up before the campaign starts in week 21."""
    if week < 21:
        return []
    names = sorted(ZONES)
    return [(names[int(rng.integers(4))], int(rng.integers(400, 900))) for _ in range(int(rng.integers(1, 4)))]


def main(run):
    desk = run.track("desk", Desk(run.rng("arrivals")))
    office = run.track("office", {"warm": 0, "week": 0})
    office["warm"] = desk.warm_up()
    for week in run.ticks(36):
        office["week"] = week
        for zone, load in demand(desk.arrivals, week):
            desk.quote(zone, load, week)
