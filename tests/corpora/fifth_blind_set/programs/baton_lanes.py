"""Relay teams: runners compete for lanes; a tie in the seed times falls to the runner object itself."""
import itertools


class Runner:
    def __init__(self, bib, seed_time):
        self.bib = bib
        self.seed_time = seed_time
        self.legs = 0


def squad(rng, count):
    runners = []
    scrap = []
    for bib in range(count):
        scrap.append(bytearray(int.from_bytes(__import__("os").urandom(2), "big") % 400 + 40))
        runners.append(Runner(bib, round(float(rng.integers(44, 47)), 1)))
        if bib % 2:
            scrap.pop(0)
    return runners


def lanes(runners):
    ranked = sorted(runners, key=lambda r: (r.seed_time, id(r) // 16 % 101))
    return [r.bib for r in ranked]


class Meet:
    def __init__(self):
        self.heats = []
        self.points = {}

    def state(self):
        return {"heats": list(self.heats), "points": dict(self.points)}

    def restore(self, state):
        self.heats, self.points = list(state["heats"]), dict(state["points"])

    def score(self, order):
        for bib, gain in zip(order, itertools.chain([5, 3, 1], itertools.repeat(0))):
            self.points[bib] = self.points.get(bib, 0) + gain


def main(run):
    rng = run.rng("squad")
    runners = squad(rng, 12)
    meet = run.track("meet", Meet())
    for tick in run.ticks(10):
        order = lanes(runners)
        meet.heats.append(order[tick % len(order)])
        meet.score(order)
        for bib in order[:4]:
            runners[bib].legs += 1
            runners[bib].seed_time = round(runners[bib].seed_time + 0.5, 1)
    return sum(meet.points.values())
