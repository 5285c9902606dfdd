"""A harbour: containers are ordered by deck, and each run of one deck is loaded by one crane."""

import itertools
import random


class Crane:
    def __init__(self, number):
        self.number = number
        self.lifted = []
        self.minutes = 0

    def lift(self, box, minutes):
        self.lifted.append(box)
        self.minutes += minutes


def deck_of(box):
    return int(box.split("-")[1]) % 3


class Manifest:
    """Boxes on the quay; customs may take some away."""

    def __init__(self, boxes):
        self.boxes = set(boxes)

    def seize(self, box):
        self.boxes.discard(box)

    def by_deck(self):
        return sorted(self.boxes, key=deck_of)  # guilty

    def by_name(self):
        return sorted(self.boxes)  # innocent


def boxes(rng, count):
    ports = ("RTM", "ANR", "HAM", "BRV", "LEH")
    return [f"{rng.choice(ports)}-{rng.randrange(100, 999)}" for _ in range(count)]


def runs(manifest):
    """Deck by deck, in pieces that fit on a truck."""
    for deck, group in itertools.groupby(manifest.by_deck(), key=deck_of):
        while piece := tuple(itertools.islice(group, 4)):
            yield deck, piece


def fatigue(crane):
    return 1 + len(crane.lifted) // 6


def main():
    rng, wind = random.Random(31), random.Random(32)
    manifest = Manifest(boxes(rng, 40))
    for box in manifest.by_name()[::9]:
        manifest.seize(box)
    print("on the quay:", len(manifest.boxes), "first", min(manifest.boxes), "last", max(manifest.boxes))  # innocent
    cranes = [Crane(k) for k in range(3)]
    plan = list(runs(manifest))
    for hour in range(15):
        print(f"hour {hour}: wind {wind.gauss(12, 4):.2f}, waiting trucks {max(0, len(plan) - hour)}")
    for deck, piece in plan:
        crane = min(cranes, key=lambda c: (c.minutes, c.number))  # innocent
        for box in piece:
            crane.lift(box, (2 + int(box[-1]) % 4) * fatigue(crane))
    print("boxes", sum(len(crane.lifted) for crane in cranes))
    for crane in cranes:
        print("crane", crane.number, "minutes", crane.minutes, "last", crane.lifted[-1])


if __name__ == "__main__":
    main()
