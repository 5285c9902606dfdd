"""A risk-limiting audit of an election: ballots are drawn with polars and compared by hand count."""
import math

import polars as pl

PRECINCTS = 8
CANDIDATES = ["Amund", "Berit", "Claus"]


def ballots():
    rows = {"precinct": [], "paper": [], "machine": []}
    value = 2024
    for number in range(4000):
        value = (value * 48271) % 2147483647
        choice = CANDIDATES[0 if value % 100 < 46 else 1 if value % 100 < 86 else 2]
        misread = value % 199 == 0
        rows["precinct"].append(number % PRECINCTS)
        rows["paper"].append(choice)
        rows["machine"].append(CANDIDATES[(CANDIDATES.index(choice) + 1) % 3] if misread else choice)
    return pl.DataFrame(rows)


class Audit:
    """Kaplan-Markov style bookkeeping; stops when the risk is small."""

    def __init__(self, frame, limit):
        counts = frame.group_by("machine").len().sort("len", descending=True)
        self.winner, self.loser = counts["machine"][0], counts["machine"][1]
        self.margin = (counts["len"][0] - counts["len"][1]) / frame.height
        self.limit = limit
        self.risk = 1.0
        self.drawn = 0

    def look(self, paper, machine):
        self.drawn += 1
        overstatement = (machine == self.winner) - (paper == self.winner)
        self.risk *= (1 - self.margin / 2.2) / (1 - overstatement / 2.2)

    @property
    def done(self):
        return self.risk < self.limit


def rounds(frame, size):
    """Each round draws some ballots of every precinct."""
    while True:
        for precinct in range(PRECINCTS):
            part = frame.filter(pl.col("precinct") == precinct)
            yield from part.sample(size, shuffle=True).select("paper", "machine").rows()


def main():
    frame = ballots()
    audit = Audit(frame, limit=0.02)
    trail = 0
    for number, (paper, machine) in enumerate(rounds(frame, 6)):
        audit.look(paper, machine)
        trail = (trail * 31 + CANDIDATES.index(paper) + 3 * CANDIDATES.index(machine)) % 1_000_003
        if audit.done or number > 600:
            break
    print(f"winner {audit.winner}, margin {audit.margin:.4f}")
    print(f"{audit.drawn} ballots drawn, risk {audit.risk:.5f}, enough: {audit.done}")
    print(f"trail {trail}, digits {math.ceil(math.log10(audit.drawn))}")


if __name__ == "__main__":
    main()
