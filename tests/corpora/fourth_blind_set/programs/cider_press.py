"""Cider press: batches of apples are pressed and blended; a sanity check looks at a sample of the must before blending."""
from dataclasses import dataclass


@dataclass
class Must:
    sugar: float
    acid: float
    litres: float

    def blend(self, other):
        litres = self.litres + other.litres
        mix = lambda mine, theirs: (mine * self.litres + theirs * other.litres) / litres
        return Must(mix(self.sugar, other.sugar), mix(self.acid, other.acid), litres)


class Probe:
    """Draws a sample with the cellar's random spot."""

    def __init__(self, rng):
        self._rng = rng
        self.samples = 0

    def sample(self, must):
        self.samples += 1
        spot = float(self._rng.normal(0.0, 0.01))
        return must.sugar * (1.0 + spot)


class Cellar:
    def __init__(self, rng, probe):
        self._rng, self._probe = rng, probe
        self.vat = Must(0.11, 0.006, 50.0)
        self.pressed = 0
        self.sold = 0.0

    def state(self):
        return {
            "sugar": round(self.vat.sugar, 9),
            "acid": round(self.vat.acid, 9),
            "litres": round(self.vat.litres, 6),
            "pressed": self.pressed,
            "sold": round(self.sold, 6),
        }

    def restore(self, state):
        self.vat = Must(state["sugar"], state["acid"], state["litres"])
        self.pressed, self.sold = state["pressed"], state["sold"]

    def press(self, kilos):
        rate = 0.62 + 0.05 * float(self._rng.random())
        must = Must(0.09 + 0.04 * float(self._rng.random()), 0.004 + 0.004 * float(self._rng.random()), kilos * rate)
        self.pressed += 1
        return must

    def receive(self, must):
        assert 0.0 < self._probe.sample(must) < 0.5, must
        self.vat = self.vat.blend(must)

    def sell(self, share):
        amount = self.vat.litres * share
        self.vat.litres -= amount
        self.sold += amount


def deliveries(tick):
    """Kilos on the weighbridge; nothing comes in the first days."""
    if tick < 5:
        return []
    return [120.0 + 10.0 * (tick % 4)] * (1 + tick % 2)


def main(run):
    rng = run.rng("cellar")
    cellar = run.track("cellar", Cellar(rng, Probe(rng)))
    for tick in run.ticks(22):
        for kilos in deliveries(tick):
            cellar.receive(cellar.press(kilos))
        cellar.sell(0.1)
    run.compare("pressed", cellar.pressed)
    return cellar.pressed
