"""Search over a folder of notes: the folder is walked, words are indexed, questions are answered."""

import os
import random
import re
import tempfile
from collections import Counter, defaultdict
from pathlib import Path

WORDS = ["harbour", "Brücke", "café", "smørrebrød", "ferry", "señal", "tide", "Öland", "anchor", "naïve", "rope", "pier",
         "Kraków", "lamp", "façade", "gull"]
WORD = re.compile(r"\w+")


def write_notes(root):
    """What was written by other people, with other editors."""
    for number in range(18):
        folder = root / ["north", "south", "islands"][number % 3]
        folder.mkdir(exist_ok=True)
        words = [random.choice(WORDS) for _ in range(30 + random.randrange(20))]
        (folder / f"note{number:02d}.txt").write_bytes((" ".join(words) + "\n").encode("utf-8"))
    (root / "README.txt").write_text("Notes of the harbour office.\n", encoding="ascii")
    (root / "islands" / "photo.bin").write_bytes(bytes(range(256)))


class Walker:
    def __init__(self, root):
        self.root = root
        self.skipped = 0

    def __iter__(self):
        for folder, folders, names in os.walk(self.root):
            folders.sort()
            for name in sorted(names):
                if not name.endswith(".txt"):
                    self.skipped += 1
                    continue
                yield Path(folder) / name


class Index:
    def __init__(self):
        self.places = defaultdict(list)
        self.lengths = {}
        self.stop = {"of", "the", "notes"}
        self.bytes = 0

    def add(self, name, path):
        with open(path, errors="replace") as file:
            text = file.read()
        self.bytes += os.path.getsize(path)
        words = [word.lower() for word in WORD.findall(text)]
        self.lengths[name] = len(words)
        for word in words:
            if word not in self.stop:
                self.places[word].append(name)

    def drop_rare(self, least):
        rare = {word for word, names in self.places.items() if len(names) < least}
        for word in rare:
            del self.places[word]

    def ask(self, question):
        scores = Counter()
        for word in WORD.findall(question):
            for name in self.places.get(word.lower(), ()):
                scores[name] += 1 / self.lengths[name]
        return sorted(scores.items(), key=lambda item: (-item[1], item[0]))[:2]


def main():
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        write_notes(root)
        walker, index = Walker(root), Index()
        for path in walker:
            index.add(path.relative_to(root).as_posix(), path)
    index.drop_rare(2)
    print(f"{len(index.lengths)} notes, {index.bytes} bytes, {walker.skipped} other file")
    for question in ("rope or anchor", "the ferry at the pier", "gull"):
        hits = index.ask(question)
        print(f"{question}: " + ", ".join(f"{name} {1000 * score:.0f}" for name, score in hits))


main()
