"""Chord charts: parse a UTF-8 chart file and transpose it tick by tick."""
import os
import tempfile

CHART = "C | Am | F\u266f | B\u266d | G | E\u266d | D | A"
ROOTS = {"C": 0, "D": 2, "E": 4, "F": 5, "G": 7, "A": 9, "B": 11}


def write_chart(path):
    with open(path, "wb") as out:
        out.write(CHART.encode("utf-8"))


def read_chart(path):
    with open(path, errors="replace") as source:
        return source.read()


def parse(text):
    for cell in text.split("|"):
        cell = cell.strip()
        shift = 0
        match cell[1:2]:
            case "\u266f":
                shift = 1
            case "\u266d":
                shift = -1
        yield (ROOTS[cell[0]] + shift) % 12, cell.endswith("m")


class Player:
    def __init__(self):
        self.chords = [(0, False)]
        self.key = 0
        self.pitch = 0

    def load(self, path):
        self.chords = list(parse(read_chart(path)))

    def step(self, tick, shift):
        self.key = (self.key + shift) % 12
        root, minor = self.chords[tick % len(self.chords)]
        self.pitch = (root + self.key) % 12 + (12 if minor else 24)

    def state(self):
        return {"pitch": self.pitch, "key": self.key, "chords": len(self.chords)}

    def restore(self, state):
        self.pitch, self.key = state["pitch"], state["key"]


def main(run):
    rng = run.rng("keys")
    handle, path = tempfile.mkstemp(suffix=".chart")
    os.close(handle)
    write_chart(path)
    player = run.track("player", Player())
    for tick in run.ticks(16):
        if tick == 1:
            player.load(path)
        player.step(tick, int(rng.integers(0, 3)))
    os.unlink(path)
    return player.pitch
