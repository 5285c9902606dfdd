"""Ski tourers carry a plan in YAML: where to ski, and which refuge to run for if the slope goes."""
from dataclasses import dataclass

import yaml

PLAN = """
tour: haute
refuges: !!set
  ? Vignettes
  ? Bertol
  ? Dixence
  ? Mulets
  ? Tsena
  ? Valsorey
legs:
  - {name: col, climb: 900, steep: 31}
  - {name: face, climb: 400, steep: 38}
  - {name: couloir, climb: 650, steep: 44}
"""
MINUTES = {"Vignettes": 62, "Bertol": 41, "Dixence": 88, "Mulets": 44, "Tsena": 33, "Valsorey": 95}


def quarter_hours(hut):
    return MINUTES[hut] // 15


@dataclass
class Fallback:
    hut: str
    walked: int = 0

    def there(self):
        return self.walked >= MINUTES[self.hut]


class Party:
    def __init__(self, plan):
        self.legs = iter(plan["legs"])
        self.leg = next(self.legs)
        self.done = 0
        self.fallback = Fallback(min(
            plan["refuges"],
            key=quarter_hours,
        ))
        self.running = False
        self.breath = 100.0

    def move(self, snow):
        if self.running:
            if not self.fallback.there():
                self.fallback.walked += 15
                self.breath -= 15 / MINUTES[self.fallback.hut] * 40
            return
        self.done += 130 - self.leg["steep"]
        self.breath = min(100.0, self.breath + 2 - snow)
        if self.done >= self.leg["climb"]:
            following = next(self.legs, None)
            if following is None:
                self.running = True
            else:
                self.leg, self.done = following, 0

    def state(self):
        return {"leg": self.leg["name"], "done": self.done, "running": self.running,
                "breath": round(self.breath, 4)}

    def restore(self, state):
        self.done, self.running, self.breath = state["done"], state["running"], state["breath"]


class Slope:
    def __init__(self, rng):
        self.rng, self.load = rng, 0.0

    def snowfall(self):
        fall = float(self.rng.exponential(1.2))
        self.load = self.load * 0.95 + fall
        return fall

    def released(self, steep):
        return self.load * steep > 10_000


def main(run):
    plan = yaml.safe_load(PLAN)
    party, slope = Party(plan), Slope(run.rng("snow"))
    run.track("party", party)
    for _ in run.ticks(32):
        fall = slope.snowfall()
        if slope.released(party.leg["steep"]):
            party.running = True
        party.move(fall)
    return party.fallback.hut if party.running else party.leg["name"]
