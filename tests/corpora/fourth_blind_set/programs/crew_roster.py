"""Train crew roster: turns are dealt to depots, a spare link shared by all covers for sickness."""
import os
import random

GRADES = ("driver", "fireman", "guard")


class Depot:
    spare = []

    def __init__(self, name, strength):
        self.name = name
        self.crews = [f"{name[:2]}{n:02d}" for n in range(strength)]
        self.worked = dict.fromkeys(self.crews, 0)

    def enlist(self, count):
        for _ in range(count):
            self.spare.append(self.crews.pop())

    def turn(self, sickness):
        missing = 0
        for crew in self.crews:
            if sickness.random() < 0.12:
                missing += 1
            else:
                self.worked[crew] += 1
        covered = min(missing, len(self.spare))
        for _ in range(covered):
            relief = self.spare.pop(0)
            self.spare.append(relief)
        return missing, covered


def luck():
    stream = random.Random()
    stream.seed(os.getpid() * 7919)
    return stream


class Roster:
    def __init__(self, depots, draw):
        self.depots = depots
        self.draw = draw
        self.cancelled = 0
        self.relief = []
        self.grade = {grade: 0 for grade in GRADES}
        self.ballot = 0

    def day(self, sickness):
        for depot in self.depots:
            missing, covered = depot.turn(sickness)
            self.cancelled += missing - covered
            for _ in range(covered):
                self.grade[self.draw.choice(GRADES)] += 1
        self.relief = list(Depot.spare)
        self.ballot = self.draw.randrange(100, 1000000)

    def state(self):
        return {"cancelled": self.cancelled, "spare": list(self.relief), "grade": dict(self.grade),
                "ballot": self.ballot}

    def restore(self, state):
        self.cancelled = state["cancelled"]
        self.relief = list(state["spare"])
        self.grade = dict(state["grade"])


def main(run):
    Depot.spare.clear()
    depots = [Depot("Oxford", 8), Depot("Swindon", 6), Depot("Penzance", 5)]
    for depot in depots:
        depot.enlist(2)
    roster = run.track("roster", Roster(depots, luck()))
    sickness = run.streams.python("sickness")
    for _ in run.ticks(20):
        roster.day(sickness)
    return roster.grade
