"""A cricket afternoon: balls are bowled, close ones go to the third umpire, whose tolerance is set at import."""
import os
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Rules:
    reviews: int = 3
    tolerance: float = 0.5
    ultra_edge: bool = field(default_factory=lambda: os.environ.get("ULTRA_EDGE", "off") == "on")


RULES = Rules()


class Innings:
    def __init__(self):
        self.runs = 0
        self.wickets = 0
        self.reviews = RULES.reviews
        self.balls = 0

    def state(self):
        return {"runs": self.runs, "wickets": self.wickets, "reviews": self.reviews, "balls": self.balls}

    def restore(self, state):
        self.__dict__.update(state)


def deliver(rng):
    line = rng.normal(0.0, 1.0)
    pace = rng.uniform(118, 146)
    return line, pace


def third_umpire(rng, line):
    """Ball tracking; the sound trace adds a reading of its own."""
    predicted = line + rng.normal(0, 0.1)
    if RULES.ultra_edge:
        spike = rng.random()
        return spike < 0.4 and abs(predicted) < RULES.tolerance
    return abs(predicted) < RULES.tolerance


def over(rng, innings, late):
    for _ in range(6):
        line, pace = deliver(rng)
        innings.balls += 1
        if late and abs(line) < 0.3 and innings.reviews > 0:
            innings.reviews -= 1
            if third_umpire(rng, line):
                innings.wickets += 1
                continue
        innings.runs += int(abs(line) * 2) + (1 if pace > 140 else 0)


def main(run):
    rng = run.rng("bowling")
    innings = run.track("innings", Innings())
    for tick in run.ticks(20):
        over(rng, innings, late=tick >= 11)
    return innings.runs
