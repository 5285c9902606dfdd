"""Stewards at a stadium: gates are covered from a set of volunteers, always sorted before anybody is named."""
import os


class Gate:
    def __init__(self, letter):
        self.letter = letter
        self.people = 0

    def let_in(self, count):
        self.people += count


def cover(volunteers, busy):
    free = volunteers - busy
    return sorted(free)


def badge_total(volunteers):
    total = 0
    for name in volunteers:
        total += len(name) * 7
    return total


def diary(path, lines):
    with open(path, "w") as handle:
        for line in lines:
            handle.write(line + "\n")


class Stadium:
    def __init__(self, letters):
        self.gates = [Gate(x) for x in letters]
        self.named = {}

    def state(self):
        return {"people": {g.letter: g.people for g in self.gates}, "named": dict(self.named)}

    def restore(self, state):
        for gate in self.gates:
            gate.people = state["people"][gate.letter]
        self.named = dict(state["named"])


def main(run):
    rng = run.rng("crowd")
    volunteers = {"Ruth", "Sami", "Tove", "Umar", "Vera", "Wes"}
    stadium = run.track("stadium", Stadium("NESW"))
    for tick in run.ticks(18):
        busy = {name for name in volunteers if len(name) + tick in (6, 9, 11)}
        diary(os.devnull, volunteers)
        for gate, name in zip(stadium.gates, cover(volunteers, busy)):
            gate.let_in(int(rng.poisson(40)))
            stadium.named[gate.letter] = name
    return badge_total(volunteers)
