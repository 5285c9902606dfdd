"""Casting understudies: each role has its own dice so that recasting one does not disturb the rest."""
import random
from collections import defaultdict
from functools import cached_property

ROLES = ["Medea", "Jason", "Creon", "Nurse", "Tutor", "Aegeus"]
POOL = ["Ines", "Paul", "Rosa", "Tom", "Ute", "Vito", "Wim", "Xenia"]


class Casting:
    """Base: everyone gets a seeded die, whose seed is an ordinary int."""

    base = 40

    def __init__(self, role):
        self.role = role

    def seed(self):
        return self.base + ROLES.index(self.role)

    @cached_property
    def die(self):
        return random.Random(self.seed())

    def pick(self, free):
        return free[self.die.randrange(len(free))]


class TouringCasting(Casting):
    """On tour the town counts too."""

    def __init__(self, role, town):
        super().__init__(role)
        self.town = town

    def seed(self):
        return super().seed() ^ (hash(self.town) % 10_000)


class Company:
    def __init__(self):
        self.played = defaultdict(int)
        self.tonight = {}
        self.applause = 0.0

    def perform(self, castings, ill, mood):
        free = [actor for actor in POOL if actor not in ill]
        self.tonight = {}
        for casting in castings:
            actor = casting.pick(free)
            free.remove(actor)
            self.tonight[casting.role] = actor
            self.played[actor] += 1
        self.applause += mood * sum(self.played[a] % 3 for a in self.tonight.values())

    def state(self):
        return {"tonight": dict(self.tonight), "applause": round(self.applause, 4),
                "played": {a: self.played[a] for a in POOL if a in self.played}}

    def restore(self, state):
        self.tonight, self.applause = dict(state["tonight"]), state["applause"]


def bill(tick, towns):
    """A home season first, then the tour."""
    if tick < 6:
        return [Casting(role) for role in ROLES[:4]]
    return [TouringCasting(role, towns[tick % len(towns)]) for role in ROLES[:4]]


def main(run):
    rng = run.rng("health")
    company = Company()
    run.track("company", company)
    for tick in run.ticks(16):
        ill = {POOL[int(i)] for i in rng.integers(len(POOL), size=2)}
        company.perform(bill(tick, ["Ulm", "Graz", "Bern"]), ill, float(rng.random()))
    return round(company.applause, 3)
