"""Couriers carry plasma between hospitals; each trip is a coroutine and results are taken as they end."""
import asyncio
from dataclasses import dataclass, field

PLACES = ["St Anne", "Mercy", "Royal", "County", "Lakeside", "Cottage", "Northern", "Eastgate"]
HOSPITALS = [f"{place}/{ward}" for place in PLACES for ward in range(40)]


@dataclass
class Fridge:
    units: dict = field(default_factory=lambda: dict.fromkeys(HOSPITALS, 6))
    log: list = field(default_factory=list)
    spilled: int = 0

    def use(self, hospital, count):
        held = self.units[hospital]
        self.units[hospital] = max(0, held - count)
        return max(0, count - held)

    def deliver(self, hospital, stock):
        wanted = 6 - self.units[hospital]
        given = min(wanted, stock)
        self.units[hospital] += given
        return stock - given


async def courier(hospital, miles):
    """Every road takes the same number of turns of the loop tonight."""
    for _ in range(2):
        await asyncio.sleep(0)
    return hospital, miles


async def night(fridge, needs, stock):
    trips = [courier(hospital, miles) for hospital, miles in needs.items()]
    for ended in asyncio.as_completed(trips):
        hospital, miles = await ended
        stock = fridge.deliver(hospital, stock)
        fridge.log.append(hospital)
        if miles > 28:
            fridge.spilled += 1
    return stock


class Depot:
    def __init__(self, rng):
        self.rng, self.fridge = rng, Fridge()
        self.left = 0

    def day(self):
        short = 0
        for hospital in HOSPITALS:
            short += self.fridge.use(hospital, int(self.rng.integers(0, 4)))
        needs = {hospital: int(self.rng.integers(3, 30)) for hospital in HOSPITALS
                 if self.fridge.units[hospital] < 6}
        self.left = asyncio.run(night(self.fridge, needs, 240))
        return short

    def state(self):
        held = {place: sum(self.fridge.units[h] for h in HOSPITALS if h.startswith(place)) for place in PLACES}
        return {"held": held, "log": self.fridge.log[-8:],
                "left": self.left, "spilled": self.fridge.spilled}

    def restore(self, state):
        self.fridge.log = list(state["log"])
        self.left, self.fridge.spilled = state["left"], state["spilled"]


def main(run):
    depot = Depot(run.rng("wards"))
    run.track("depot", depot)
    short = 0
    for _ in run.ticks(12):
        short += depot.day()
    return short
