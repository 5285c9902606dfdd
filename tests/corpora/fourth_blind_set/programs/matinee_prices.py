"""Box office: a performance is a unix time; matinees are cheaper and the price list is kept warm in a cache."""
from datetime import datetime
from functools import lru_cache

FIRST_NIGHT = 1_700_000_000
HOUR = 3600


@lru_cache(maxsize=256)
def band(when):
    """Which price band a performance falls in: by the hour on the wall clock of the house."""
    hour = datetime.fromtimestamp(when).hour
    if hour < 12:
        return "morning"
    if hour < 18:
        return "matinee"
    return "evening"


PRICE = {"morning": 9.0, "matinee": 14.5, "evening": 24.0}


def programme(rng, shows):
    """Performances of a season, as (title, unix time)."""
    titles = ["The Gulls", "Ashlar", "Three Winters", "Lantern Hill"]
    when = FIRST_NIGHT
    for i in range(shows):
        when += int(rng.integers(3, 9)) * HOUR
        yield titles[i % len(titles)], when


class Warmup:
    """Fills the cache before the doors open, so that the till never waits."""

    def __init__(self, season):
        self.season = season

    def __call__(self):
        return sum(1 for _, when in self.season if band(when))


class Till:
    def __init__(self, season):
        self._season = season
        self.takings = 0.0
        self.sold = 0
        self.open = False
        self.ledger = []

    def state(self):
        return {"takings": self.takings, "sold": self.sold, "open": self.open, "ledger": self.ledger[-4:]}

    def restore(self, state):
        self.takings, self.sold, self.open = state["takings"], state["sold"], state["open"]

    def reserve(self, rng):
        """A caller asks for seats, nothing is paid yet."""
        title, when = self._season[int(rng.integers(len(self._season)))]
        return title, when, int(rng.integers(1, 6))

    def pay(self, booking):
        title, when, seats = booking
        amount = seats * PRICE[band(when)]
        self.takings += amount
        self.sold += seats
        self.ledger.append([title, seats, amount])


def main(run):
    rng = run.rng("callers")
    season = list(programme(run.rng("season"), 24))
    warmed = Warmup(season)()
    till = run.track("till", Till(season))
    held = []
    for tick in run.ticks(26):
        held.append(till.reserve(rng))
        if tick >= 13:
            till.open = True
            for _ in range(2):
                if held:
                    till.pay(held.pop(0))
    run.compare("sold", till.sold)
    return {"warmed": warmed, "takings": till.takings}
