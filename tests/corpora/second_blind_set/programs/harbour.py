"""A harbour with few cranes: ships arrive, are berthed, unloaded, and leave.

The simulation is driven by one heap of events. Demurrage is what the port authority
looks at, so that is what the ledger keeps.
"""

import heapq
from dataclasses import dataclass, field

FLEET = {
    "Aurora": 420, "Bremen": 380, "Cassiopeia": 510, "Dunkerque": 290, "Ebba": 330,
    "Fortuna": 610, "Galatea": 450, "Hydra": 275, "Iolanthe": 520, "Juno": 390,
}
HOURLY = 35


@dataclass(order=True)
class Event:
    at: int
    number: int
    what: str = field(compare=False)
    ship: str = field(compare=False)


class Harbour:
    def __init__(self, weather, cranes=3):
        self.weather = weather
        self.free = cranes
        self.agenda = []
        self.numbers = 0
        self.roads = []
        self.swell = 0.0
        self.invoiced = {}
        self.moored_since = {}

    def plan(self, at, what, ship):
        self.numbers += 1
        heapq.heappush(self.agenda, Event(at, self.numbers, what, ship))

    def announce(self, ships, at):
        """Ships that the pilot station reported for one tide."""
        for ship in ships:
            self.plan(at, "arrive", ship)

    def handle(self, event, now):
        if event.what == "arrive":
            self.roads.append(event.ship)
            self.moored_since[event.ship] = now
        elif event.what == "leave":
            self.free += 1
            wait = now - self.moored_since.pop(event.ship)
            self.invoiced[event.ship] = self.invoiced.get(event.ship, 0) + wait * HOURLY

    def hour(self, now):
        self.swell = round(0.8 * self.swell + self.weather.exponential(0.3), 6)
        while self.agenda and self.agenda[0].at <= now:
            self.handle(heapq.heappop(self.agenda), now)
        while self.free and self.roads and self.swell < 3.0:
            ship = self.roads.pop(0)
            self.free -= 1
            self.plan(now + 2 + FLEET[ship] // 60, "leave", ship)

    def state(self):
        return {"swell": self.swell, "invoiced": dict(self.invoiced), "free": self.free, "roads": len(self.roads)}

    def restore(self, state):
        self.swell, self.invoiced, self.free = state["swell"], dict(state["invoiced"]), state["free"]


def pilot_report(fleet, laid_up):
    """Everybody who is under way this tide."""
    return set(fleet) - laid_up


def main(run):
    harbour = run.track("harbour", Harbour(run.rng("weather")))
    tides = run.track("tides", {"height": 0})
    harbour.announce(pilot_report(FLEET, {"Juno"}), at=18)
    for hour in run.ticks(48):
        tides["height"] = abs(12 - hour % 24)
        harbour.hour(hour)
