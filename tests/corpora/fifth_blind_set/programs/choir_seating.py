"""Choir seating: singers are spread over rows through a content key."""
import zlib
from collections import defaultdict


class Singer:
    def __init__(self, name, part, volume):
        self.name, self.part, self.volume = name, part, volume


def content_key(singer):
    return zlib.crc32(repr(singer).encode())


class Hall:
    def __init__(self, rows):
        self.rows = rows
        self.seating = defaultdict(list)
        self.balance = [0.0] * rows

    def seat(self, singer):
        row = content_key(singer) % self.rows
        self.seating[row].append(singer.name)
        self.balance[row] += singer.volume

    def swap_loudest(self):
        loud = max(range(self.rows), key=lambda r: self.balance[r])
        soft = min(range(self.rows), key=lambda r: self.balance[r])
        if loud != soft and self.seating[loud]:
            self.seating[soft].append(self.seating[loud].pop())

    def state(self):
        return {"rows": {str(r): list(self.seating[r]) for r in range(self.rows)},
                "balance": [round(b, 3) for b in self.balance]}

    def restore(self, state):
        self.balance = list(state["balance"])


PARTS = ("soprano", "alto", "tenor", "bass")


def main(run):
    rng = run.rng("choir")
    hall = run.track("hall", Hall(5))
    choir = []
    for tick in run.ticks(18):
        singer = Singer(f"singer-{tick:02d}", PARTS[tick % 4], float(rng.uniform(0.5, 2)))
        choir.append(singer)
        if tick >= 3:
            hall.seat(choir[tick - 3])
            hall.seat(choir[tick])
        if tick % 6 == 5:
            hall.swap_loudest()
    return len(choir)
