"""Sealed auctions at a flower market: the highest bid wins, the first of equal ones."""

import math
from dataclasses import dataclass, field

LOTS = ("tulip", "rose", "lily", "iris", "peony", "aster")


@dataclass
class Bidder:
    name: str
    purse: int = 200
    won: list = field(default_factory=list)

    def offer(self, lot, noise):
        base = 10 + (len(lot) * 3 + len(self.name)) % 5
        return min(self.purse, base + noise)


class Hall:
    """Bidders by name, in the order in which they took their seats."""

    def __init__(self, names):
        seats = dict.fromkeys(names)
        self.bidders = {name: Bidder(name) for name in seats}

    def sell(self, lot, noises):
        offers = {name: bidder.offer(lot, noises[name]) for name, bidder in self.bidders.items()}
        winner = max(offers, key=offers.get)  # innocent
        bidder = self.bidders[winner]
        bidder.purse -= offers[winner]
        bidder.won.append(lot)
        return winner, offers[winner]


def register(applications):
    """Names that may bid: everybody who applied and was not struck off."""
    accepted = {name.strip().lower() for name in applications} - {"gert"}
    return [name.title() for name in accepted]  # guilty


def noises_for(names, rng, tick):
    """In the first weeks everybody has a mind of his own; from then on, bids follow the list price."""
    order = sorted(names)  # innocent
    if tick < 18:
        return {name: 7 * rank + int(rng.integers(3)) for rank, name in enumerate(order)}
    return {name: 2 for name in order}


def main(run):
    applications = ["Anke ", "bram", "Cees", "DAAN", "Elle", "femke", "gert", "Hugo", "Ilse", "Joop"]
    hall = Hall(register(applications))
    order = sorted(hall.bidders)
    purses = run.track("purses", {name: hall.bidders[name].purse for name in order})
    market = run.track("market", {"turnover": 0, "last": "", "mood": 0.0})
    bids, weather = run.rng("bids"), run.rng("weather")
    for tick in run.ticks(36):
        lot = LOTS[tick % len(LOTS)]
        winner, paid = hall.sell(lot, noises_for(hall.bidders, bids, tick))
        market["turnover"] += paid
        market["last"] = lot
        market["mood"] = math.tanh(market["mood"] + float(weather.normal(0, 0.1)))  # innocent
        for name in order:
            hall.bidders[name].purse = min(200, hall.bidders[name].purse + 4)
            purses[name] = hall.bidders[name].purse
    return market["turnover"]
