"""Field hospital drill: teams are coloured by an Enum, a team with the least load takes the next casualty."""
import enum
from collections import Counter


class Team(enum.Enum):
    RED = "surgical"
    AMBER = "medical"
    GREEN = "minor"
    BLUE = "paediatric"
    WHITE = "transport"

    @property
    def beds(self):
        return {"surgical": 2, "medical": 3, "minor": 5, "paediatric": 3, "transport": 2}[self.value]


class Casualty:
    _made = 0

    def __init__(self, severity, child):
        Casualty._made += 1
        self.number = Casualty._made
        self.severity, self.child = severity, child

    def acceptable(self):
        """Teams that may treat this casualty."""
        teams = {Team.AMBER, Team.WHITE}
        if self.severity >= 3:
            teams = {Team.RED, Team.WHITE, Team.AMBER}
        elif self.severity == 1:
            teams = {Team.GREEN}
        if self.child:
            teams |= {Team.BLUE}
        return teams


class Drill:
    def __init__(self):
        self.load = Counter()
        self.log = []
        self.treated = 0

    def state(self):
        return {
            "load": {team.name: self.load[team] for team in Team},
            "log": [list(entry) for entry in self.log[-4:]],
            "treated": self.treated,
        }

    def restore(self, state):
        self.load = Counter({Team[name]: n for name, n in state["load"].items()})
        self.log, self.treated = [tuple(entry) for entry in state["log"]], state["treated"]

    def assign(self, casualty):
        options = casualty.acceptable()
        team = min(options, key=lambda team: self.load[team] // team.beds)
        self.load[team] += 1
        self.log.append((casualty.number, team.name))

    def discharge(self, rng):
        for team in Team:
            while self.load[team] and rng.random() < 0.4:
                self.load[team] -= 1
                self.treated += 1


def wave(rng, tick):
    """Walking wounded first, the heavy cases follow from the fourth hour on."""
    for _ in range(2 + tick % 3):
        severity = 1 if tick < 4 else int(rng.integers(1, 5))
        child = tick >= 4 and float(rng.random()) < 0.25
        yield Casualty(severity, child)


def main(run):
    arrivals, wards = run.rng("arrivals"), run.rng("wards")
    drill = run.track("drill", Drill())
    for tick in run.ticks(20):
        for casualty in wave(arrivals, tick):
            drill.assign(casualty)
        if tick % 2:
            drill.discharge(wards)
    run.compare("casualties", Casualty._made)
    return Casualty._made
