"""A town's grid in winter: feeders switch on and off, a transformer warms, a relay hunts around its set point."""

import math

FEEDERS = {
    "alder": 0.137, "birch": 0.211, "cedar": 0.173, "dogwood": 0.319, "elm": 0.101, "fir": 0.277,
    "gorse": 0.193, "hazel": 0.223, "ivy": 0.061, "juniper": 0.149, "larch": 0.331, "maple": 0.257,
    "oak": 0.401, "pine": 0.119, "rowan": 0.083, "spruce": 0.293,
}


class Relay:
    """Voltage regulator with a stiff loop; its tap position hunts."""

    def __init__(self):
        self.phase = 0.41

    def regulate(self, load):
        self.phase = (2.7 * self.phase + load) % 1.0
        return round(32 * self.phase)


class Grid:
    def __init__(self, weather, faults):
        self.weather, self.faults = weather, faults
        self.online = set(FEEDERS)
        self.tripped = {}
        self.relay = Relay()
        self.tap = 16
        self.frost = 0.0
        self.moves = 0
        self.energy = {name: 0.0 for name in FEEDERS}
        self.outages = 0

    def demand(self):
        factor = 1.0 + 0.15 * self.frost
        return sum(FEEDERS[name] * factor for name in self.online)

    def meter(self):
        for name in self.online:
            self.energy[name] += FEEDERS[name] * 0.25

    def trip(self, tick):
        if self.faults.random() < 0.3:
            name = sorted(self.online)[int(self.faults.integers(len(self.online)))]
            self.online.discard(name)
            self.tripped[name] = tick + 3
            self.outages += 1

    def reclose(self, tick):
        for name in [name for name, due in self.tripped.items() if due <= tick]:
            self.online.add(name)
            del self.tripped[name]

    def step(self, tick):
        self.frost = 0.8 * self.frost + 0.2 * float(self.weather.normal())
        self.reclose(tick)
        if len(self.online) > 8:
            self.trip(tick)
        tap = self.relay.regulate(self.demand())
        self.moves += abs(tap - self.tap)
        self.tap = tap
        self.meter()

    def state(self):
        return {
            "tap": self.tap, "moves": self.moves, "outages": self.outages, "online": sorted(self.online),
            "frost": self.frost, "energy": {name: round(value, 6) for name, value in self.energy.items()},
            "billed": round(math.fsum(self.energy.values()), 3),
        }

    def restore(self, state):
        self.tap, self.moves, self.outages = state["tap"], state["moves"], state["outages"]
        self.online, self.frost = set(state["online"]), state["frost"]
        self.energy = dict(state["energy"])


def main(run):
    grid = run.track("grid", Grid(run.rng("weather"), run.rng("faults")))
    for quarter in run.ticks(60):
        grid.step(quarter)
