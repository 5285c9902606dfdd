"""A genetic algorithm with operators that register themselves."""

import random

OPERATORS = {}
TARGET = [3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8]


def operator(cls):
    OPERATORS[cls.__name__.lower()] = cls
    return cls


@operator
class Swap:
    def __init__(self, source):
        self.source = source

    def __call__(self, genome):
        i, j = self.source.sample(range(len(genome)), 2)
        genome = list(genome)
        genome[i], genome[j] = genome[j], genome[i]
        return genome


@operator
class Creep:
    def __init__(self, source):
        self.source = source

    def __call__(self, genome):
        genome = list(genome)
        spot = self.source.randrange(len(genome))
        genome[spot] = max(0, min(9, genome[spot] + self.source.choice((-1, 1))))
        return genome


@operator
class Catastrophe:
    """Rare: half of the genome is thrown anew when the search is stuck."""

    def __init__(self, source=None):
        self.source = source or random.Random()

    def __call__(self, genome):
        half = len(genome) // 2
        return genome[:half] + [self.source.randrange(10) for _ in genome[half:]]


def misfit(genome):
    return sum(abs(a - b) for a, b in zip(genome, TARGET))


class Search:
    def __init__(self, source):
        self.source = source
        self.people = [[source.randrange(10) for _ in TARGET] for _ in range(16)]
        self.stuck = 0
        self.thrown = 0
        self.best = min(map(misfit, self.people))
        self.usual = [OPERATORS["swap"](source), OPERATORS["creep"](source)]
        self.last_resort = OPERATORS["catastrophe"]()

    def generation(self):
        self.people.sort(key=lambda genome: (misfit(genome), genome))
        parents = self.people[:8]
        children = [self.source.choice(self.usual)(self.source.choice(parents)) for _ in range(8)]
        self.people = parents + children
        found = min(map(misfit, self.people))
        self.stuck = 0 if found < self.best else self.stuck + 1
        self.best = min(found, self.best)
        if self.stuck >= 4:
            self.people[4:] = [self.last_resort(genome) for genome in self.people[4:]]
            self.thrown += sum(sum(genome[6:]) for genome in self.people[4:])
            self.stuck = 0

    def state(self):
        return {"people": [list(genome) for genome in self.people], "best": self.best, "thrown": self.thrown}

    def restore(self, state):
        self.people, self.best = [list(genome) for genome in state["people"]], state["best"]
        self.thrown = state["thrown"]


def main(run):
    search = run.track("search", Search(run.python("search")))
    for _ in run.ticks(60):
        search.generation()
