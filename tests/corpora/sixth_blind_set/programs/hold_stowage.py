"""Stowage: cargo weights are summed into a trim moment which feeds a slow roll model; only whole degrees are logged."""
import math

CARGO = {
    "timber": (102.3, 0.71), "coils": (88.7, -0.33), "paper": (41.9, 1.37), "engines": (77.1, -1.13),
    "fruit": (19.3, 2.09), "cement": (130.9, -0.41), "cork": (7.7, 0.93), "glass": (23.9, -2.21),
    "salt": (65.3, 0.57), "wool": (12.1, 1.81), "tiles": (54.7, -0.77), "rails": (110.1, 0.13),
}


class Manifest:
    def __init__(self, cargo):
        self._cargo = dict(cargo)

    def aboard(self, *left_behind):
        return set(self._cargo) - set(left_behind)

    def moment(self, names):
        """Weight times lever over everything aboard."""
        return sum(self._cargo[n][0] * self._cargo[n][1] for n in names)

    def tonnage(self, names):
        return math.fsum(self._cargo[n][0] for n in names)


class Roll:
    """A logistic toy of parametric rolling: stretch and fold, as the ship's own textbook does it."""

    def __init__(self, moment, tonnage):
        self.x = abs(moment) / tonnage % 1.0
        self.r = 3.93

    def swell(self):
        self.x = self.r * self.x * (1.0 - self.x)

    @property
    def degrees(self):
        return int(self.x * 30)


class Bridge:
    def __init__(self, roll):
        self.roll = roll
        self.log = []
        self.ballast = 200

    def watch(self):
        self.roll.swell()
        angle = self.roll.degrees
        self.log.append(angle)
        del self.log[:-4]
        if angle > 24:
            self.ballast += 5

    def state(self):
        return {"log": list(self.log), "ballast": self.ballast}

    def restore(self, state):
        self.log, self.ballast = list(state["log"]), state["ballast"]


def main(run):
    rng = run.rng("waves")
    manifest = Manifest(CARGO)
    names = manifest.aboard("cork")
    roll = Roll(manifest.moment(names), manifest.tonnage(names))
    bridge = run.track("bridge", Bridge(roll))
    sea = run.track("sea", {"height": 1.0})
    for tick in run.ticks(40):
        sea["height"] = round(0.8 * sea["height"] + 0.4 * float(rng.random()), 4)
        for _ in range(3):
            bridge.watch()
    return len(names)
