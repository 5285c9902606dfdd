"""Particles in a box: pairs of those that are awake and near collide, in the order in which they are met."""

import itertools


class Particle:
    """Has a place and a charge; two particles are the same only if they are one."""

    numbers = itertools.count()

    def __init__(self, place, charge):
        self.number = next(Particle.numbers)
        self.place = place
        self.charge = charge
        self.hits = 0


class Box:
    def __init__(self, particles, side):
        self.particles = particles
        self.side = side
        self.awake = set()
        self.contacts = set()
        self.energy = 0

    def wake(self, rng):
        """All of them, or those that the rng picks."""
        self.awake = {p for p in self.particles if rng is None or rng.random() < 0.9}

    def touch(self):
        """Neighbours on the line, each pair once."""
        line = sorted(self.awake, key=lambda p: (p.place, p.number))  # innocent
        self.contacts = {(a, b) for a, b in zip(line, line[1:]) if b.place - a.place <= 1}

    def collide(self):
        carry = 1
        for one, other in self.contacts:  # guilty
            carry = (carry * 31 + one.number + other.charge) % 65_521
            one.hits += carry % 3 == 0
        self.energy = carry

    def drift(self):
        for particle in self.particles:  # innocent
            particle.place = (particle.place + particle.charge) % self.side

    def total(self):
        return sum(p.charge for p in self.awake)  # innocent


class Wall:
    def __init__(self, rng):
        self.rng = rng
        self.heat = 0.0

    def warm(self, hits):
        self.heat += 0.01 * hits + 0.001 * float(self.rng.random())


def make(rng, count, side):
    return [Particle(int(rng.integers(side)), int(rng.integers(-3, 4))) for _ in range(count)]


def main(run):
    box = Box(make(run.rng("make"), 300, 150), 150)
    summary = run.track("summary", {"energy": 0, "hits": 0, "charge": 0, "edge": 0})
    wall = run.track("wall", Wall(run.rng("wall")))
    sleep = run.rng("sleep")
    for tick in run.ticks(20):
        box.wake(sleep)
        box.drift()
        edge = {p.number for p in box.particles if p.place < 5}
        summary["edge"] = len(edge)
        summary["charge"] = box.total()
        if tick >= 5 and tick % 3 == 2:
            box.touch()
            box.collide()
        summary["energy"] = box.energy
        summary["hits"] = sum(p.hits for p in box.particles)
        wall.warm(len(sorted(edge)))  # innocent
