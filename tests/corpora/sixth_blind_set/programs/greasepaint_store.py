"""Wardrobe and make-up stock: issues go to a journal, and the weekly buyer reads it back by day."""
import csv
import os
import shutil
import tempfile
from collections import Counter
from datetime import datetime

OPENED = 1_700_000_000
ITEMS = ["spirit gum", "rouge", "powder", "crepe hair", "cold cream"]


class Journal:
    def __init__(self, folder):
        self.path = os.path.join(folder, "issues.csv")

    def note(self, stamp, item, count):
        when = datetime.fromtimestamp(stamp)
        with open(self.path, "a", newline="") as out:
            csv.writer(out).writerow([when.strftime("%Y-%m-%d"), item, count])

    def by_day(self):
        days = {}
        with open(self.path, newline="") as source:
            for day, item, count in csv.reader(source):
                days.setdefault(day, Counter())[item] += int(count)
        return days


class Store:
    def __init__(self, journal):
        self.journal = journal
        self.shelf = dict.fromkeys(ITEMS, 200)
        self.orders = {}

    def issue(self, tick, rng):
        item = ITEMS[int(rng.integers(len(ITEMS)))]
        count = int(rng.integers(1, 9))
        self.shelf[item] -= count
        self.journal.note(OPENED + tick * 4 * 3600 + 1800, item, count)

    def review(self):
        """Order to cover the busiest day of every item, as the buyer always has."""
        days = self.journal.by_day()
        for item in ITEMS:
            peak = max((day[item] for day in days.values()), default=0)
            short = 190 + peak - self.shelf[item]
            if short > 0:
                self.orders[item] = self.orders.get(item, 0) + short
                self.shelf[item] += short

    def state(self):
        return {"shelf": dict(self.shelf), "orders": dict(self.orders)}

    def restore(self, state):
        self.shelf, self.orders = dict(state["shelf"]), dict(state["orders"])


def main(run):
    folder = tempfile.mkdtemp(prefix="greasepaint")
    try:
        store = Store(Journal(folder))
        run.track("store", store)
        rng = run.rng("dressing rooms")
        for tick in run.ticks(36):
            for _ in range(2):
                store.issue(tick, rng)
            if tick % 21 == 20:
                store.review()
        return store.orders
    finally:
        shutil.rmtree(folder)
