"""A chess club's league: rounds are paired, played with a small model of strength, and the table is printed."""

import json
import os
import random
import secrets
import tempfile
import time
import uuid
from pathlib import Path

PLAYERS = {"Anand": 2750, "Bilek": 2480, "Caruso": 2610, "Donner": 2500, "Euwe": 2590, "Fine": 2560, "Geller": 2620, "Hort": 2570}


class Journal:
    """Results are written through to a file, so that a power cut costs one game at most."""

    def __init__(self, folder):
        self.run = uuid.uuid4().hex
        self.path = Path(folder) / f"{self.run}.jsonl"
        self.opened = time.time()
        self.lines = 0

    def write(self, **entry):
        entry["at"] = time.time() - self.opened
        entry["key"] = secrets.token_hex(4)
        with open(self.path, "a", encoding="utf-8") as stream:
            stream.write(json.dumps(entry) + "\n")
        self.lines += 1

    def games(self):
        entries = [json.loads(line) for line in self.path.read_text(encoding="utf-8").splitlines()]
        unique = {entry["key"] + str(entry["at"]): entry for entry in entries}
        return sorted(unique.values(), key=lambda entry: (entry["round"], entry["board"]))


def pairings(names):
    """Everybody against everybody, by the circle method."""
    ring = list(names)
    for number in range(len(ring) - 1):
        half = len(ring) // 2
        yield number, list(zip(ring[:half], reversed(ring[half:])))
        ring = [ring[0], ring[-1], *ring[1:-1]]


def play(white, black, strength):
    expected = 1 / (1 + 10 ** ((strength[black] - strength[white] - 30) / 400))
    draw = 0.4
    value = random.random()
    if value < draw:
        return 0.5
    return 1.0 if (value - draw) / (1 - draw) < expected else 0.0


def rate(strength, white, black, score):
    expected = 1 / (1 + 10 ** ((strength[black] - strength[white]) / 400))
    strength[white] += 10 * (score - expected)
    strength[black] -= 10 * (score - expected)


def season(journal):
    strength = dict(PLAYERS)
    for number, boards in pairings(sorted(PLAYERS)):
        for board, (white, black) in enumerate(boards):
            score = play(white, black, strength)
            rate(strength, white, black, score)
            journal.write(round=number, board=board, white=white, black=black, score=score)
        leader = max(strength, key=strength.__getitem__)
        print(f"round {number + 1}: strongest {leader} {strength[leader]:.1f}")
    return strength


def table(games):
    points = dict.fromkeys(sorted(PLAYERS), 0.0)
    for game in games:
        points[game["white"]] += game["score"]
        points[game["black"]] += 1 - game["score"]
    return sorted(points.items(), key=lambda item: (-item[1], item[0]))


def main():
    with tempfile.TemporaryDirectory(prefix="league-") as folder:
        journal = Journal(folder)
        strength = season(journal)
        games = journal.games()
        assert len(games) == journal.lines and os.path.getsize(journal.path) > 0
    for place, (name, points) in enumerate(table(games), 1):
        print(f"{place}. {name:8s} {points:4.1f} {strength[name]:7.1f}")


main()
