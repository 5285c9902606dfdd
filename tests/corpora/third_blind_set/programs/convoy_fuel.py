"""A convoy of lorries crosses a pass. One table of dice serves the whole journey."""

import logging
import os

log = logging.getLogger("convoy")
TRACE = os.environ.get("CONVOY_TRACE") == "1"


class Dice:
    """Uniform numbers, drawn ahead in one block, because single draws are slow."""

    def __init__(self, stream, block=6000):
        self.table = stream.random(block).tolist()
        self.position = 0

    def roll(self):
        value = self.table[self.position % len(self.table)]
        self.position += 1
        return value

    def chance(self, probability):
        return self.roll() < probability


class Lorry:
    def __init__(self, name, dice):
        self.name, self.dice = name, dice
        self.fuel, self.road, self.stuck = 120.0, 0.0, 0

    def gauge(self):
        """The needle trembles; what a driver would read off."""
        return self.fuel + 4.0 * (self.dice.roll() - 0.5)

    def drive(self, speed, uphill):
        if self.stuck:
            self.stuck -= 1
            return
        self.road += speed
        self.fuel -= speed * (0.09 if uphill else 0.04)

    def hazard(self):
        if self.dice.chance(0.07):
            self.stuck = 2
            return True
        return False


class Convoy:
    def __init__(self, weather, dice, names):
        self.weather, self.dice = weather, dice
        self.lorries = [Lorry(name, dice) for name in names]
        self.weak = set()
        self.wind = 0.0
        self.hazards = 0
        self.refuelled = 0.0

    def report(self, hour):
        lines = [f"{hour:02d}h {lorry.name}: km {lorry.road:.1f}" for lorry in self.lorries]
        if TRACE and hour % 6 == 5:
            lines += [f"{lorry.name} fuel {lorry.gauge():.1f}" for lorry in self.lorries[:1]]
        for line in lines:
            log.debug(line)

    def step(self, hour):
        uphill = 16 <= hour < 30
        self.wind = 0.8 * self.wind + 0.5 * float(self.weather.normal())
        for lorry in self.lorries:
            lorry.drive(max(8.0, 30.0 - self.wind) * (0.6 if uphill else 1.0), uphill)
            if uphill:
                self.hazards += lorry.hazard()
            if lorry.fuel < 90:
                self.weak.add(lorry.name)
        for lorry in self.lorries:
            if lorry.name in self.weak and hour % 12 == 0:
                self.refuelled += 120.0 - lorry.fuel
                lorry.fuel = 120.0
                self.weak.discard(lorry.name)
        self.report(hour)

    def state(self):
        return {
            "lorries": {lorry.name: [lorry.fuel, lorry.road, lorry.stuck] for lorry in self.lorries},
            "weak": sorted(self.weak), "wind": self.wind,
            "hazards": self.hazards, "refuelled": self.refuelled,
        }

    def restore(self, state):
        for lorry in self.lorries:
            lorry.fuel, lorry.road, lorry.stuck = state["lorries"][lorry.name]
        self.weak, self.wind = set(state["weak"]), state["wind"]
        self.hazards, self.refuelled = state["hazards"], state["refuelled"]


def main(run):
    dice = Dice(run.rng("dice"))
    names = ["Berta", "Dora", "Emil", "Kurt", "Ludwig", "Nora", "Paula"]
    convoy = run.track("convoy", Convoy(run.rng("weather"), dice, names))
    for hour in run.ticks(36):
        convoy.step(hour)
