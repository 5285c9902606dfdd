"""Ferry departures board: the stops file is exported by the port office and read back for the board."""
import os
import tempfile

STOPS = [
    ("Bergen", 0), ("Florø", 35), ("Måløy", 55), ("Torvik", 80), ("Ålesund", 105), ("Molde", 130),
    ("Kristiansund", 155), ("Trondheim", 190), ("Rørvik", 240), ("Brønnøysund", 275),
]
WIDTH = 14


def export(folder):
    path = os.path.join(folder, "stops.txt")
    with open(path, "wb") as out:
        for name, minutes in STOPS:
            out.write(f"{name};{minutes}\n".encode("utf-8"))
    return path


def load(path):
    stops = []
    with open(path, errors="replace") as source:
        for line in source:
            name, _, minutes = line.rstrip("\n").partition(";")
            stops.append((name, int(minutes)))
    return stops


def flap(text, width):
    """How many flaps turn on a split-flap board for this text."""
    return sum(1 + ord(c) % 40 for c in text.ljust(width)[:width])


class Ferry:
    def __init__(self, stops, rng):
        self.stops = stops
        self.rng = rng
        self.clock = 0
        self.leg = 0
        self.delay = 0

    def sail(self):
        self.clock += 15
        if self.rng.random() < 0.3:
            self.delay += self.rng.randint(1, 6)
        called = []
        while self.leg < len(self.stops) and self.stops[self.leg][1] + self.delay <= self.clock:
            called.append(self.stops[self.leg][0])
            self.leg += 1
        return called


def main(run):
    board = run.track("board", {"text": "", "flaps": 0, "letters": 0, "called": 0})
    with tempfile.TemporaryDirectory() as folder:
        stops = load(export(folder))
    ferry = Ferry(stops, run.streams.python("sea"))
    for _ in run.ticks(22):
        for name in ferry.sail():
            board["text"] = name.upper()
            board["flaps"] += flap(name, WIDTH)
            board["letters"] += len(name)
            board["called"] += 1
    return board["flaps"]
