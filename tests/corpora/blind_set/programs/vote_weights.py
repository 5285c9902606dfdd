"""A parliament: members drift between camps, and a bill passes by the weight of those present."""

import math


class Member:
    def __init__(self, name, weight, lean):
        self.name = name
        self.weight = weight
        self.lean = lean

    def drift(self, push):
        self.lean = math.tanh(0.95 * self.lean + push)


class Chamber:
    """Members by name; who is present is a set."""

    def __init__(self, members):
        self.members = {member.name: member for member in members}
        self.present = set(self.members)

    def sit(self, rng):
        draws = {name: float(rng.random()) for name in self.members}  # innocent
        self.present = {name for name in self.members if draws[name] < 0.8}

    def weight(self):
        return sum(self.members[name].weight for name in self.present)  # guilty

    def quorum(self):
        return len(self.present) > len(self.members) // 2  # innocent


class Agenda:
    def __init__(self):
        self.pressure = 0.0
        self.passed = 0
        self.tabled = 0
        self.history = []

    def vote(self, weight, mood):
        """The pressure is chaotic, as pressures are: what is small does not stay small."""
        self.pressure = (self.pressure + weight) % 1.0
        self.pressure = min(0.99, max(0.01, 3.9 * self.pressure * (1.0 - self.pressure)))
        if self.pressure + mood > 0.6:
            self.passed += 1
        else:
            self.tabled += 1
        self.history = [*self.history[-4:], round(self.pressure, 6)]


def seat(rng):
    names = ("Abel", "Bianchi", "Cohen", "Dubois", "Evans", "Fischer", "Garcia", "Haas", "Ivanov", "Jensen", "Kaya", "Lopes", "Meyer", "Novak")
    return [Member(name, float(rng.random()) * 1.7 + 0.1, float(rng.normal())) for name in names]


def main(run):
    chamber = Chamber(seat(run.rng("seats")))
    agenda = run.track("agenda", Agenda())
    moods = run.track("moods", {name: member.lean for name, member in chamber.members.items()})
    presence, pushes = run.rng("presence"), run.rng("pushes")
    total = math.fsum(member.weight for member in chamber.members.values())
    for _ in run.ticks(40):
        chamber.sit(presence)
        for name in sorted(chamber.members):  # innocent
            chamber.members[name].drift(float(pushes.normal(0, 0.1)))
            moods[name] = chamber.members[name].lean
        if chamber.quorum():
            agenda.vote(chamber.weight() / total, 0.1 * math.fsum(moods.values()))
