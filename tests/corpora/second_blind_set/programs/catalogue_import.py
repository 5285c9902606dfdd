"""A library imports catalogue cards that a scanner left as text, and shelves the books."""

import os
import shutil
import tempfile

TITLES = [
    ("Smilla's fornemmelse for sne", "Høeg"), ("Die Blechtrommel", "Grass"), ("Fröken Julie", "Strindberg"),
    ("L'Étranger", "Camus"), ("Kød", "Ø. Madsen"), ("Emma", "Austen"), ("Die Verwandlung", "Kafka"),
    ("Český sen", "Škvorecký"), ("Solaris", "Lem"), ("Żywot", "Mrożek"), ("Ulysses", "Joyce"), ("Niels Lyhne", "Jacobsen"),
]


class Scanner:
    """Writes cards; it knows nothing about who reads them."""

    def __init__(self, rng, folder):
        self.rng = rng
        self.folder = folder
        self.cards = 0

    def scan(self):
        title, author = TITLES[int(self.rng.integers(len(TITLES)))]
        path = os.path.join(self.folder, f"card{self.cards:04d}.txt")
        with open(path, "w", errors="replace") as card:
            card.write(f"{author}\n{title}\n")
        self.cards += 1
        return path


class Shelves:
    def __init__(self, letters):
        self.letters = letters
        self.rows = {letter: [] for letter in letters}
        self.unplaced = 0
        self.width = 0

    def place(self, author, title):
        initial = author[0].upper()
        if initial in self.rows:
            self.rows[initial].append(title)
            self.rows[initial].sort()
        else:
            self.unplaced += 1
        self.width += 20 + len(title.split())

    def state(self):
        return {"rows": {letter: list(row) for letter, row in self.rows.items()}, "unplaced": self.unplaced, "width": self.width}

    def restore(self, state):
        self.rows = {letter: list(row) for letter, row in state["rows"].items()}
        self.unplaced, self.width = state["unplaced"], state["width"]


def read_card(path):
    with open(path, "rb") as card:
        author, title = card.read().decode("utf-8").splitlines()
    return author, title


def main(run):
    folder = tempfile.mkdtemp()
    pending = []
    try:
        scanner = Scanner(run.rng("scanner"), folder)
        shelves = run.track("shelves", Shelves("ABCDEGHJKLMSØŠ"))
        lamp = run.track("lamp", {"hours": 0})
        for hour in run.ticks(40):
            pending.append(scanner.scan())
            lamp["hours"] += 1
            if hour >= 20:
                for path in pending[:2]:
                    shelves.place(*read_card(path))
                del pending[:2]
    finally:
        shutil.rmtree(folder)
