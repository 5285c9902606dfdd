"""Text statistics in pieces: however many pieces the machine wants, the counts are the same."""

import os
from collections import Counter

WORDS = ("sea", "sky", "sand", "salt", "sail", "shore", "stone", "storm", "swell", "surf")


def pieces():
    """How many at once; more on a large machine."""
    return max(1, int(os.environ.get("COUNT_WORKERS", "2")))  # innocent


def split(rows, count):
    size = -(-len(rows) // count)
    return [rows[k : k + size] for k in range(0, len(rows), size)]  # innocent


class Counts:
    """Counters that can be joined in any way."""

    def __init__(self):
        self.words = Counter()
        self.letters = 0

    def __iadd__(self, other):
        self.words.update(other.words)
        self.letters += other.letters
        return self

    @classmethod
    def of(cls, rows):
        counts = cls()
        for row in rows:
            counts.words.update(row)
            counts.letters += sum(map(len, row))
        return counts


class Reader:
    def __init__(self, rng):
        self.rng = rng
        self.read = 0

    def rows(self, count):
        self.read += count
        return [[WORDS[int(k)] for k in self.rng.integers(len(WORDS), size=6)] for _ in range(count)]


class Shop:
    def __init__(self, rng):
        self.rng = rng
        self.stock = 100

    def sell(self, number):
        self.stock += int(self.rng.integers(0, 3)) - number % 3


def main(run):
    count = pieces()
    reader = run.track("reader", Reader(run.rng("reader")))
    shop = run.track("shop", Shop(run.rng("shop")))
    report = run.track("report", {"letters": 0, "top": "", "kinds": 0})
    total = Counts()
    for _ in run.ticks(25):
        rows = reader.rows(40)
        for piece in split(rows, count):  # innocent
            total += Counts.of(piece)
        report["letters"] = total.letters
        report["kinds"] = len(total.words)
        report["top"] = min(total.words.items(), key=lambda pair: (-pair[1], pair[0]))[0]  # innocent
        shop.sell(total.words[report["top"]])
