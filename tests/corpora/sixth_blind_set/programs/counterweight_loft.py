"""A fly loft: pieces hang on counterweights, and a badly trimmed bar starts to swing."""
import math

BARS = {
    "forest": 38.1, "palace": 61.7, "moon": 4.3, "gauze": 11.9, "legs": 23.57, "border": 9.13,
    "chandelier": 87.77, "swing": 14.01, "cyclorama": 52.3, "balcony": 71.19, "portal": 33.33,
    "cloud": 2.71, "ship": 44.9, "lantern": 6.07, "gate": 18.83,
}
FLOWN_FROM = 12


class Piece:
    def __init__(self, name, kilos):
        self.name, self.kilos = name, kilos

    def share(self, total):
        return self.kilos / total


class Loft:
    """Knows what hangs today and hands out the trim factor of the grid."""

    def __init__(self, pieces):
        self.pieces = {piece.name: piece for piece in pieces}
        self.stored = {"ship", "gate"}

    @property
    def hanging(self):
        return set(self.pieces) - self.stored

    def trim(self):
        total = sum(self.pieces[name].kilos / 7 for name in self.hanging)
        return total / 1000


class Bar:
    def __init__(self, trim):
        self.trim = trim
        self.swing = 0.0
        self.height = 0.0

    def winch(self, tick, push):
        if tick < FLOWN_FROM:
            self.height += 0.25
            return
        if self.swing == 0.0:
            self.swing = self.trim
        for _ in range(4):
            self.swing = 3.93 * self.swing * (1 - self.swing)
        self.height += push * 0.01

    def state(self):
        return {"swing": round(self.swing, 7), "height": round(self.height, 6)}

    def restore(self, state):
        self.swing, self.height = state["swing"], state["height"]


class Crew:
    def __init__(self, rng):
        self.rng = rng
        self.tired = 0.0
        self.steps = 0

    def push(self):
        self.steps += 1
        self.tired = min(1.0, self.tired + 0.01)
        return math.exp(-self.tired) * self.rng.random()

    def state(self):
        return {"tired": round(self.tired, 5), "steps": self.steps}

    def restore(self, state):
        self.tired, self.steps = state["tired"], state["steps"]


def main(run):
    loft = Loft(Piece(name, kilos) for name, kilos in BARS.items())
    bar = Bar(loft.trim())
    crew = Crew(run.rng("crew"))
    run.track("bar", bar)
    run.track("crew", crew)
    for tick in run.ticks(36):
        bar.winch(tick, crew.push())
    return round(bar.height, 4)
