"""An epidemic on a ring of villages, with telemetry that is sampled so that it stays small.

EPIDEMIC_TELEMETRY=1 keeps a sample of what happens, for a dashboard.
"""
import os
import random

from epidemic_tel_probe import Probe

VILLAGES = 24


class Village:
    __slots__ = ("people", "ill", "immune")

    def __init__(self, people):
        self.people = people
        self.ill = 0
        self.immune = 0

    @property
    def open(self):
        return self.people - self.ill - self.immune


class Ring:
    def __init__(self, count):
        self.villages = [Village(80 + 5 * (n % 7)) for n in range(count)]
        self.villages[0].ill = 4
        self.imported = 0

    def neighbours(self, place):
        return (place - 1) % len(self.villages), (place + 1) % len(self.villages)

    def day(self):
        """Spread is computed from yesterday's numbers; it needs no dice."""
        ill = [village.ill for village in self.villages]
        for place, village in enumerate(self.villages):
            left, right = self.neighbours(place)
            pressure = 0.30 * ill[place] + 0.05 * (ill[left] + ill[right])
            fresh = min(village.open, int(pressure * village.open / village.people))
            healed = (village.ill + 2) // 6
            village.ill += fresh - healed
            village.immune += healed

    def traveller(self):
        """Somebody comes home ill."""
        place = random.randrange(len(self.villages))
        if self.villages[place].open > 0:
            self.villages[place].ill += 3
            self.imported += 1


def report(ring, day):
    ill = sum(village.ill for village in ring.villages)
    peak = max(range(len(ring.villages)), key=lambda place: ring.villages[place].ill)
    print(f"day {day:3d}: {ill:4d} ill, worst in village {peak}")


def main():
    random.seed(2020)
    ring = Ring(VILLAGES)
    probe = Probe(size=16) if os.environ.get("EPIDEMIC_TELEMETRY") else None
    for day in range(1, 91):
        ring.day()
        if probe is not None:
            for place, village in enumerate(ring.villages):
                probe.seen((day, place, village.ill))
        if day in (40, 55, 70):
            ring.traveller()
        if day % 15 == 0:
            report(ring, day)
    print("imported:", ring.imported, "immune:", sum(village.immune for village in ring.villages))


if __name__ == "__main__":
    main()
