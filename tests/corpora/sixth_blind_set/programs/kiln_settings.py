"""Kiln settings: options arrive as a set of names; the table built from it is only ever looked up."""
import json
from types import MappingProxyType

DEFAULTS = {"ramp": 90.0, "soak": 3, "top": 1060.0, "vent": 0.2, "cones": 6, "drop": 60.0, "guard": 1200.0}
OVERRIDES = {"ramp": 120.0, "soak": 2, "vent": 0.35, "top": 1040.0}


class Settings:
    def __init__(self, defaults, overrides):
        names = set(defaults) | set(overrides)
        merged = {name: overrides.get(name, defaults[name]) for name in names}
        self._table = MappingProxyType(merged)

    def __getattr__(self, name):
        try:
            return self.__dict__["_table"][name]
        except KeyError:
            raise AttributeError(name) from None

    def dump(self):
        return json.dumps(dict(self._table), sort_keys=True)

    def __contains__(self, name):
        return name in self._table


class Kiln:
    phases = ("heating", "soaking", "cooling", "cold")

    def __init__(self, settings, rng):
        self.settings, self.rng = settings, rng
        self.heat, self.phase, self.held = 20.0, 0, 0
        self.fired = 0

    def hour(self):
        draught = self.settings.vent * float(self.rng.uniform(5, 20))
        match self.phases[self.phase]:
            case "heating":
                self.heat += self.settings.ramp - draught
                if self.heat >= self.settings.top:
                    self.phase = 1
            case "soaking":
                self.held += 1
                self.heat -= draught / 4
                if self.held >= self.settings.soak:
                    self.phase, self.held = 2, 0
            case "cooling":
                self.heat -= self.settings.drop + draught
                if self.heat <= 60:
                    self.phase = 3
            case "cold":
                self.fired += self.settings.cones
                self.phase = 0
        if "guard" in self.settings and self.heat > self.settings.guard:
            raise RuntimeError("too hot")

    def state(self):
        return {"heat": round(self.heat, 4), "phase": self.phases[self.phase], "fired": self.fired}

    def restore(self, state):
        self.heat, self.fired = state["heat"], state["fired"]
        self.phase = self.phases.index(state["phase"])


def main(run):
    settings = Settings(DEFAULTS, OVERRIDES)
    kiln = Kiln(settings, run.rng("draught"))
    run.track("kiln", kiln)
    for _ in run.ticks(36):
        kiln.hour()
    run.compare("settings", settings.dump())
    return kiln.fired
