"""Audits crowd labels: agreement per item, trust per annotator, a queue of items to be looked at again."""

import heapq

import numpy as np
import pandas as pd

ANNOTATORS = ["ada", "boris", "chidi", "dora", "emeka", "farah", "gus"]
CLASSES = ["cat", "dog", "fox", "owl"]


class Ledger:
    """Every vote, as whole numbers."""

    def __init__(self):
        self.votes = {}
        self.by = dict.fromkeys(ANNOTATORS, 0)

    def record(self, item, voters):
        box = self.votes.setdefault(item, {})
        for name in voters.keys() & self.by.keys():
            self.by[name] += 1
            label = voters[name]
            box[label] = box.get(label, 0) + 1

    def winner(self, item):
        box = self.votes[item]
        return max(box, key=lambda label: (box[label], label))

    def frame(self):
        rows = [(item, label, n) for item, box in self.votes.items() for label, n in box.items()]
        return pd.DataFrame(rows, columns=["item", "label", "n"])

    def state(self):
        return {"votes": {item: dict(box) for item, box in self.votes.items()}, "by": dict(self.by)}

    def restore(self, state):
        self.votes = {item: dict(box) for item, box in state["votes"].items()}
        self.by = dict(state["by"])


class Trust:
    """Agreement with the winner in whole hundredths; lost points come off in any order."""

    def __init__(self, rng):
        self.rng = rng
        self.points = dict.fromkeys(ANNOTATORS, 10_000)
        self.queue = []

    def review(self, item, voters, winner):
        wrong = {name for name in voters if voters[name] != winner}
        for name in wrong:
            self.points[name] -= 25
        if len(wrong) * 2 >= len(voters):
            heapq.heappush(self.queue, (-len(wrong), item))

    def audit(self):
        again = set()
        for _ in range(min(2, len(self.queue))):
            again.add(heapq.heappop(self.queue)[1])
        order = {item: hash(item) for item in again}
        for item in sorted(order, key=order.get):
            if item.endswith("7"):
                heapq.heappush(self.queue, (0, item))
        least = min(set(ANNOTATORS), key=lambda name: (self.points[name], name))
        self.points[least] += int(self.rng.integers(5))
        return again

    def state(self):
        return {"points": dict(self.points), "queue": sorted(self.queue)}

    def restore(self, state):
        self.points = dict(state["points"])
        self.queue = [tuple(entry) for entry in state["queue"]]
        heapq.heapify(self.queue)


class Report:
    def __init__(self):
        self.lines = {}

    def write(self, frame):
        counts = frame.groupby("label")["n"].sum()
        for label in set(frame["label"]):
            self.lines[label] = int(counts[label])

    def state(self):
        return {"lines": dict(self.lines)}

    def restore(self, state):
        self.lines = dict(state["lines"])


def main(run):
    shuffle, vote = run.rng("shuffle"), run.rng("vote")
    ledger = run.track("ledger", Ledger())
    trust = run.track("trust", Trust(run.rng("bonus")))
    report = run.track("report", Report())
    audited = run.track("audited", set())
    for tick in run.ticks(30):
        for _ in range(3):
            item = f"img-{int(shuffle.integers(40)):03d}"
            truth = CLASSES[int(item[-2:]) % 4]
            panel = shuffle.choice(ANNOTATORS, size=4, replace=False)
            voters = {str(n): truth if vote.random() < 0.6 else str(vote.choice(CLASSES)) for n in panel}
            ledger.record(item, voters)
            trust.review(item, voters, ledger.winner(item))
        if tick % 4 == 3:
            audited |= trust.audit()
            report.write(ledger.frame())
        run.compare("weakest", min(trust.points.values()))
