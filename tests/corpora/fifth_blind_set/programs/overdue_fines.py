"""Overdue fines: returns are stamped in epoch seconds, put into a frame, and fined per calendar day."""
from datetime import date, datetime

import pandas as pd

FEE = 15
OPENED = 1_700_000_000


def stamps(rng, count):
    return [OPENED + int(s) for s in sorted(rng.integers(0, 20 * 86400, count))]


def calendar_day(stamp):
    return datetime.fromtimestamp(stamp).date()


def frame_of(rng, count):
    rows = []
    for number, stamp in enumerate(stamps(rng, count)):
        rows.append({"loan": number, "stamp": stamp, "reader": f"r{int(rng.integers(9))}",
                     "due": date(2023, 11, 14 + int(rng.integers(0, 9)))})
    frame = pd.DataFrame(rows)
    frame["back"] = [calendar_day(s) for s in frame["stamp"]]
    return frame


def price(group):
    late = [(back - due).days for back, due in zip(group["back"], group["due"])]
    return sum(FEE * max(0, days) for days in late)


class Ledger:
    def __init__(self):
        self.owed = {}
        self.total = 0

    def book(self, reader, pence):
        self.owed[reader] = self.owed.get(reader, 0) + pence
        self.total += pence

    def state(self):
        return {"owed": dict(self.owed), "total": self.total}

    def restore(self, state):
        self.owed = dict(state["owed"])
        self.total = state["total"]


def main(run):
    rng = run.rng("returns")
    frame = frame_of(rng, 120)
    ledger = run.track("ledger", Ledger())
    for tick in run.ticks(20):
        part = frame[(frame["stamp"] - OPENED) // 86400 == tick]
        for reader, group in part.groupby("reader", sort=True):
            ledger.book(reader, price(group))
    return ledger.total
