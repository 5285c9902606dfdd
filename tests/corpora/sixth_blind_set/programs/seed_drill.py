"""Seed drill planner: fields wait for the soil to warm, then are sown row by row by a generator made at the start."""
import random
from dataclasses import dataclass, field


@dataclass
class Field:
    name: str
    rows: int
    soil: float
    crop: str
    sown: int = 0
    gaps: list = field(default_factory=list)

    def __post_init__(self):
        self.luck = random.Random(hash((self.name, self.crop)) & 0xFFFF_FFFF)

    def drill(self):
        """Yields the number of seeds in each row; some tubes clog."""
        for row in range(self.rows):
            seeds = 40
            clogged = self.luck.random() < 0.3
            if clogged:
                seeds -= self.luck.randint(3, 12)
                self.gaps.append(row)
            self.sown += seeds
            yield seeds


class Drill:
    def __init__(self, fields):
        self.fields = fields
        self.work = {f.name: f.drill() for f in fields}
        self.finished = []

    def ready(self):
        return [f for f in self.fields if f.soil >= 8.0 and f.name not in self.finished]

    def pass_over(self):
        seeds = 0
        for f in self.ready():
            try:
                seeds += next(self.work[f.name])
            except StopIteration:
                self.finished.append(f.name)
        return seeds


def warm(fields, rng, tick):
    for f in fields:
        f.soil = round(f.soil + 0.35 + 0.1 * float(rng.random()), 3)


def main(run):
    rng = run.rng("weather")
    fields = [
        Field("north", 9, 2.0, "barley"),
        Field("brook", 7, 1.2, "oats"),
        Field("mill", 8, 0.5, "rye"),
        Field("long", 12, 1.7, "wheat"),
    ]
    drill = Drill(fields)
    barn = run.track("barn", {"seed": 9000, "ready": 0, "finished": []})
    soil = run.track("soil", {f.name: f.soil for f in fields})
    for tick in run.ticks(34):
        warm(fields, rng, tick)
        soil.update((f.name, f.soil) for f in fields)
        barn["ready"] = len(drill.ready())
        barn["seed"] -= drill.pass_over()
        barn["finished"] = sorted(drill.finished)
    return {f.name: (f.sown, len(f.gaps)) for f in fields}
