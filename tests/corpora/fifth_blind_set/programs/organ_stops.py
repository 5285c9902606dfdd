"""Pipe organ: wind pressure under changing stops, with optional diagnostics."""
import os
import time

STOPS = {"flute8": 3, "principal8": 5, "octave4": 4, "mixture": 7, "bourdon16": 8}


class Diagnostics:
    def __init__(self):
        self.verbose = os.environ.get("ORGAN_VERBOSE") == "1"

    def note(self, message):
        if self.verbose:
            with open(os.devnull, "a") as out:
                out.write(f"[{time.time()}] {message}\n")


class Chest:
    def __init__(self, diagnostics):
        self.diagnostics = diagnostics
        self.drawn = []
        self.pressure = 80.0
        self.changes = 0

    def toggle(self, stop):
        if stop in self.drawn:
            self.drawn.remove(stop)
        else:
            self.drawn.append(stop)
        self.changes += 1
        self.diagnostics.note(f"{stop} toggled, {len(self.drawn)} drawn")

    @property
    def demand(self):
        return sum(STOPS[s] for s in self.drawn)

    def blow(self, supply):
        self.pressure += 0.2 * (80.0 - self.pressure) + supply - 0.3 * self.demand
        if self.pressure < 60:
            self.diagnostics.note("pressure low")

    def state(self):
        return {"drawn": sorted(self.drawn), "pressure": self.pressure,
                "changes": self.changes}

    def restore(self, state):
        self.drawn, self.pressure = list(state["drawn"]), state["pressure"]


def main(run):
    rng = run.rng("organist")
    chest = run.track("chest", Chest(Diagnostics()))
    names = list(STOPS)
    for _ in run.ticks(22):
        chest.toggle(names[int(rng.integers(0, len(names)))])
        chest.blow(float(rng.normal(2, 0.5)))
    return chest.changes
