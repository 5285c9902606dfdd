"""Bakery orders: time stamps from the till become business days, each day's bake follows its orders."""
import io
from datetime import datetime

import pandas as pd

OPENING = 1_700_006_400  # a midnight, UTC
LOAVES = ["levain", "rye", "spelt", "tin"]


def till(rng, days):
    rows = []
    for day in range(days):
        for _ in range(int(rng.integers(5, 9))):
            hour = rng.uniform(7.0, 13.5) if day < 11 else rng.uniform(9.0, 19.0)
            rows.append((OPENING + day * 86400 + int(hour * 3600), LOAVES[int(rng.integers(0, 4))],
                         int(rng.integers(1, 6))))
    return pd.DataFrame(rows, columns=["stamp", "loaf", "count"])


def business_day(stamp):
    return datetime.fromtimestamp(stamp).strftime("%Y-%m-%d")


def ledger(frame):
    frame = frame.assign(day=frame["stamp"].map(business_day))
    table = frame.pivot_table(index="day", columns="loaf", values="count", aggfunc="sum", fill_value=0)
    buffer = io.StringIO()
    table.to_csv(buffer)
    return buffer.getvalue()


class Bakehouse:
    def __init__(self, text):
        self.table = pd.read_csv(io.StringIO(text), index_col="day")
        self.flour = 400.0
        self.baked = {loaf: 0 for loaf in LOAVES}
        self.short = 0

    def bake(self, position):
        if position >= len(self.table):
            return
        row = self.table.iloc[position]
        for loaf in LOAVES:
            want = int(row.get(loaf, 0))
            can = min(want, int(self.flour // 0.6))
            self.flour -= can * 0.6
            self.baked[loaf] += can
            self.short += want - can

    def deliver(self, sacks):
        self.flour = min(500.0, self.flour + 12.5 * sacks)

    def state(self):
        return {"flour": round(self.flour, 3), "baked": dict(self.baked), "short": self.short}

    def restore(self, state):
        self.flour = state["flour"]
        self.baked = dict(state["baked"])
        self.short = state["short"]


def main(run):
    orders = till(run.rng("till"), 20)
    text = ledger(orders)
    house = run.track("bakehouse", Bakehouse(text))
    lorry = run.rng("lorry")
    for tick in run.ticks(20):
        house.deliver(int(lorry.integers(0, 3)))
        house.bake(tick)
    return house.baked
