"""An election night: districts report in whatever order they are counted, the table adds up."""

import random
from dataclasses import dataclass, field

PARTIES = ("north", "south", "river", "hill")


@dataclass
class District:
    name: str
    voters: int
    counted: dict = field(default_factory=dict)

    def count(self, rng):
        left = self.voters
        for party in PARTIES[:-1]:  # innocent
            votes = int(rng.integers(0, left + 1))
            self.counted[party] = votes
            left -= votes
        self.counted[PARTIES[-1]] = left


class Table:
    """Votes by district and in total; rows come as they come."""

    def __init__(self):
        self.rows = {}
        self.total = dict.fromkeys(PARTIES, 0)

    def report(self, districts, open_ones):
        for name in open_ones:  # innocent
            self.rows[name] = sum(districts[name].counted.values())
            for party, votes in districts[name].counted.items():
                self.total[party] += votes

    def leader(self):
        return max(sorted(self.total), key=self.total.get)


class Hall:
    def __init__(self, rng):
        self.rng = rng
        self.noise = 0.0
        self.cheers = 0

    def listen(self, leader):
        self.noise = 0.5 * self.noise + float(self.rng.random())
        self.cheers += leader == "river"


def names(count):
    letters = random.Random(3)
    return [f"{letters.choice('bdfgk')}{letters.choice('aeiou')}{letters.choice('lmnrs')}-{k}" for k in range(count)]


def main(run):
    voters, counts = run.rng("voters"), run.rng("counts")
    districts = {name: District(name, int(voters.integers(100, 900))) for name in names(40)}
    table = run.track("table", Table())
    hall = run.track("hall", Hall(run.rng("hall")))
    to_come = set(districts)
    for tick in run.ticks(20):
        ready = {name for k, name in enumerate(districts) if k % 20 == tick}
        for name in sorted(ready):  # innocent
            districts[name].count(counts)
        table.report(districts, ready)
        to_come -= ready
        hall.listen(table.leader())
        run.compare("open", len(to_come))  # innocent
    return table.leader()
