"""A ship's journal: entries are written as text, read back in the evening, and weighed."""

import collections
import os
import random
import tempfile

PORTS = ("Århus", "Malmö", "Gdańsk", "Köln", "Besançon", "Bergen", "Leith", "Rotterdam")
PATH = os.path.join(tempfile.gettempdir(), "blind16-locale-journal.txt")


class Journal:
    """Lines in a file; letters that cannot be written become question marks."""

    def __init__(self, path):
        self.path = path
        self.lines = 0

    def clear(self):
        with open(self.path, "wb"):
            self.lines = 0

    def write(self, line):
        with open(self.path, "a", errors="replace") as file:  # guilty
            file.write(line + "\n")  # guilty
        self.lines += 1

    def read(self):
        with open(self.path, encoding="utf-8", errors="replace") as file:  # innocent
            return file.read().splitlines()


class Cargo:
    def __init__(self):
        self.tons = collections.Counter()

    def load(self, port, tons):
        self.tons[port] += tons

    def heaviest(self):
        return min(self.tons.items(), key=lambda pair: (-pair[1], pair[0]))


def voyage(rng, day):
    return PORTS[rng.randrange(len(PORTS))], rng.randrange(1, 40)


def letters(lines):
    """How many letters stand in the lines, and how many are beyond ASCII."""
    text = "".join(lines)
    return len(text), sum(ord(letter) > 127 for letter in text)


def main():
    rng, waves = random.Random(60), random.Random(61)
    journal, cargo = Journal(PATH), Cargo()
    journal.clear()
    height = 0.0
    for day in range(24):
        port, tons = voyage(rng, day)
        journal.write(f"{day:02d};{port};{tons}")
        height = 0.7 * height + waves.random()
        if day % 6 == 0:
            print(f"day {day}: {journal.lines} lines, waves {height:.3f}")
    names = {name.encode("utf-8") for name in PORTS}
    print("ports", len(names), "bytes", sum(map(len, names)))  # innocent
    for line in journal.read():
        _, port, tons = line.split(";")
        cargo.load(port, int(tons))
    os.remove(PATH)
    total, beyond = letters(list(cargo.tons))
    print("letters", total, "beyond ASCII", beyond)
    port, tons = cargo.heaviest()
    print("heaviest", port.encode("unicode_escape").decode(), tons)  # innocent


if __name__ == "__main__":
    main()
