"""Pigeon post: birds fly home as threads and drop their message in one common basket; the loft keeps a running digest."""
import threading
import time
import zlib
from collections import Counter

BIRDS = ["Blue Bar", "Grizzle", "Red Hen", "Slate", "Pied Cock", "Mealy", "White Flight", "Chequer"]


class Basket:
    def __init__(self):
        self.notes = []

    def drop(self, bird, text):
        self.notes.append(f"{bird}:{text}")

    def empty(self):
        notes, self.notes = self.notes, []
        return notes


class Bird(threading.Thread):
    def __init__(self, name, text, basket, gate):
        super().__init__(name=name, daemon=True)
        self.text, self.basket, self.gate = text, basket, gate

    def run(self):
        self.gate.wait()
        for leg in range(3):
            time.sleep(0.0005)
            self.basket.drop(self.name, f"{self.text}/{leg}")


class Loft:
    def __init__(self):
        self.basket = Basket()
        self.digest = 0
        self.notes = Counter()
        self.read = 0
        self.pile = []

    def race(self, texts):
        gate = threading.Event()
        birds = [Bird(name, text, self.basket, gate) for name, text in zip(BIRDS, texts)]
        for bird in birds:
            bird.start()
        gate.set()
        for bird in birds:
            bird.join()
        self.pile.extend(self.basket.empty())

    def read_pile(self):
        for note in self.pile:
            self.digest = zlib.crc32(note.encode(), self.digest)
            self.notes[note.split(":")[0]] += 1
            self.read += 1
        self.pile = []

    def state(self):
        return {"digest": self.digest, "read": self.read, "notes": {b: self.notes[b] for b in BIRDS}}

    def restore(self, state):
        self.digest, self.read, self.notes = state["digest"], state["read"], Counter(state["notes"])


def main(run):
    rnd = run.streams.python("texts")
    loft = run.track("loft", Loft())
    day = run.track("day", {"flown": 0})
    for tick in run.ticks(14):
        texts = [f"{rnd.randrange(1000):03d}" for _ in BIRDS]
        loft.race(texts)
        day["flown"] += len(texts)
        if tick % 7 == 6:
            loft.read_pile()
    return {"read": loft.read}
