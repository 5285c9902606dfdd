"""Folios are described by tags; a digest of the tags as JSON decides on which shelf a folio stands."""
import hashlib
import json


class Encoder(json.JSONEncoder):
    def default(self, thing):
        if isinstance(thing, (set, frozenset)):
            return list(thing)
        return super().default(thing)


def digest(record):
    text = json.dumps(record, cls=Encoder, sort_keys=True)
    return int(hashlib.md5(text.encode()).hexdigest(), 16)


class Shelves:
    def __init__(self, count):
        self.books = [0] * count
        self.moved = 0

    def place(self, record):
        at = digest(record) % len(self.books)
        if self.books[at] >= 9:
            at = (at + 1) % len(self.books)
            self.moved += 1
        self.books[at] += 1

    def state(self):
        return {"books": list(self.books), "moved": self.moved}

    def restore(self, state):
        self.books, self.moved = list(state["books"]), state["moved"]


TAGS = ["vellum", "gilt", "quarto", "errata", "maps", "plates"]


def main(run):
    rng = run.rng("folios")
    shelves = run.track("shelves", Shelves(7))
    for tick in run.ticks(20):
        tags = {TAGS[int(i)] for i in rng.integers(0, len(TAGS), 4)}
        shelves.place({"year": int(rng.integers(1500, 1800)), "tags": tags})
    return sum(shelves.books)
