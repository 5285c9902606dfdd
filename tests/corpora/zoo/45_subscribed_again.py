"""A game with an event bus: restoring an army subscribes it once more."""

from __future__ import annotations


class Bus:
    def __init__(self):
        self.listeners = {}

    def on(self, topic, handler):
        self.listeners.setdefault(topic, []).append(handler)

    def emit(self, topic, *args):
        for handler in self.listeners.get(topic, ()):  # ZOO: guilty
            handler(*args)


class Army:
    def __init__(self, bus, rng):
        self.bus, self.rng = bus, rng
        self.health = {n: 100 for n in ("knight", "archer", "mage")}
        bus.on("hit", self.hurt)

    def hurt(self, unit, damage):
        self.health[unit] -= damage

    def state(self):
        return {"health": self.health}

    def restore(self, state):
        self.health = dict(state["health"])
        self.bus.on("hit", self.hurt)  # ZOO: also


def main(run):
    bus = Bus()
    rng = run.python("war")
    army = run.track("army", Army(bus, rng))
    for tick in run.ticks(15):
        unit = rng.choice(sorted(army.health))
        if tick % 3 == 1:
            bus.emit("hit", unit, rng.randrange(1, 6))
