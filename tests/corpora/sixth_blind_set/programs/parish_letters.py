"""Parish letters: a village post office counts who writes to whom and works out postage in pandas."""
from collections import Counter, defaultdict

import pandas as pd

PARISHES = ["Upton", "Nether Wick", "Saint Ives", "Marsh End", "Holt", "Long Barrow", "Ashby", "Weir"]
RATE = {"Upton": 2, "Nether Wick": 3, "Saint Ives": 5, "Marsh End": 4, "Holt": 1, "Long Barrow": 6, "Ashby": 2, "Weir": 7}


class Round:
    def __init__(self):
        self.pairs = set()
        self.senders = defaultdict(set)
        self.postage = 0
        self.busiest = ""
        self.table = {}

    def letter(self, frm, to):
        self.pairs.add((frm, to))
        self.senders[to].add(frm)

    def settle(self):
        """Everything here is a count, a whole number, or sorted by a full key."""
        self.postage = 0
        for frm, to in self.pairs:
            self.postage += RATE[frm] * 10 + RATE[to]
        degree = Counter()
        for frm, to in self.pairs:
            degree[frm] += 1
            degree[to] += 1
        self.busiest = min(degree, key=lambda name: (-degree[name], name))
        frame = pd.DataFrame([(a, b, RATE[a] * RATE[b]) for a, b in self.pairs], columns=["frm", "to", "cost"])
        self.table = frame.groupby("to")["cost"].sum().sort_index().astype(int).to_dict()

    def alone(self):
        """Parishes that hear from one place only, in the printed order of the county."""
        return [name for name in PARISHES if len(self.senders.get(name, ())) == 1]

    def state(self):
        return {"postage": self.postage, "busiest": self.busiest, "pairs": len(self.pairs),
                "table": dict(self.table), "alone": self.alone()}

    def restore(self, state):
        self.postage, self.busiest, self.table = state["postage"], state["busiest"], dict(state["table"])


def letters(rnd, n):
    for _ in range(n):
        frm, to = rnd.sample(PARISHES, 2)
        yield frm, to


def main(run):
    rnd = run.streams.python("letters")
    book = run.track("book", Round())
    postbag = run.track("postbag", {"weight": 0})
    for tick in run.ticks(16):
        for frm, to in letters(rnd, 1 + tick % 4):
            book.letter(frm, to)
            postbag["weight"] += rnd.randint(10, 60)
        book.settle()
    union = set().union(*book.senders.values())
    return {"postage": book.postage, "writers": len(union), "first": sorted(union)[0]}
