"""Harbour day: vessels wait in a heap for a berth and are unloaded lead cargo first."""
import heapq
from dataclasses import dataclass, field

HANDLING = {"grain": 3, "timber": 2, "steel": 2, "fruit": 2, "wool": 3, "coal": 4, "salt": 3}
SHEDS = {"grain": "silo", "timber": "yard", "steel": "yard-west", "fruit": "cold", "wool": "loft",
         "coal": "bunker", "salt": "dome"}


@dataclass(order=True)
class Arrival:
    due: int
    number: int
    vessel: "Vessel" = field(compare=False)


@dataclass
class Vessel:
    name: str
    cargo: set
    tons: int
    lead: str = ""
    stages: list = field(default_factory=list)


def lead_cargo(cargo):
    return min(cargo, key=lambda kind: HANDLING[kind])


def plan(vessel):
    vessel.lead = lead_cargo(vessel.cargo)
    rest = sorted(vessel.cargo - {vessel.lead})
    vessel.stages = [vessel.lead, *rest]
    return vessel


class Harbour:
    def __init__(self, rng, berths):
        self.rng = rng
        self.berths = [None] * berths
        self.roads = []
        self.stock = {shed: 0 for shed in SHEDS.values()}
        self.sailed = []

    def expect(self, due, vessel):
        heapq.heappush(self.roads, Arrival(due, len(self.roads), plan(vessel)))

    def dock(self, tick):
        for slot, held in enumerate(self.berths):
            if held is None and self.roads and self.roads[0].due <= tick:
                self.berths[slot] = heapq.heappop(self.roads).vessel

    def unload(self):
        for slot, vessel in enumerate(self.berths):
            if vessel is None:
                continue
            kind = vessel.stages[0]
            lift = min(vessel.tons, 12 // HANDLING[kind] + int(self.rng.integers(0, 3)))
            self.stock[SHEDS[kind]] += lift
            vessel.tons -= lift
            if vessel.tons % 2 == 0 and len(vessel.stages) > 1:
                vessel.stages.pop(0)
            if vessel.tons <= 0:
                self.sailed.append(vessel.name)
                self.berths[slot] = None

    def state(self):
        return {"berths": [v.name if v else None for v in self.berths], "stock": dict(self.stock),
                "sailed": list(self.sailed), "waiting": len(self.roads)}

    def restore(self, state):
        self.stock = dict(state["stock"])
        self.sailed = list(state["sailed"])


def fleet():
    yield 0, Vessel("Ardent", {"steel", "coal", "salt"}, 24)
    yield 1, Vessel("Brill", {"grain", "coal"}, 20)
    yield 3, Vessel("Curlew", {"fruit", "wool"}, 18)
    yield 6, Vessel("Dunlin", {"timber", "salt", "grain"}, 26)
    yield 13, Vessel("Egret", {"timber", "fruit", "steel", "wool"}, 30)
    yield 15, Vessel("Fulmar", {"steel", "timber", "coal"}, 22)
    yield 17, Vessel("Gannet", {"fruit", "timber"}, 16)


def main(run):
    harbour = run.track("harbour", Harbour(run.rng("cranes"), 2))
    for due, vessel in fleet():
        harbour.expect(due, vessel)
    for tick in run.ticks(28):
        harbour.dock(tick)
        harbour.unload()
    return harbour.sailed
