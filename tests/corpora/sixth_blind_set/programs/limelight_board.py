"""A lighting board: scenes are built ahead from a stream of random accents and played back by cue."""
import os
from collections import deque
from itertools import islice

COLOURS = ["amber", "steel", "rose", "straw", "congo"]


class Accents:
    """Hands out accents; the gaffer may ask for a strobe check before the house opens."""

    def __init__(self, source, options):
        self.source = source
        self.options = options

    def check(self):
        if self.options.get("strobe"):
            self.source.random()

    def stream(self):
        while True:
            yield COLOURS[self.source.randrange(len(COLOURS))], self.source.randrange(20, 100)


def read_options(environ):
    return {
        "strobe": environ.get("STROBE_TEST") == "1",
        "house": "open",
    }


class Board:
    def __init__(self):
        self.levels = {colour: 0.0 for colour in COLOURS}
        self.cues = deque()
        self.override = deque()
        self.playing = ""

    def plot(self, scenes):
        self.cues.extend(scenes)

    def store_blackout_scene(self, accents, size):
        """Held back for the storm scene."""
        self.override.extend(islice(accents, size))

    def go(self, tick):
        for colour in self.levels:
            self.levels[colour] *= 0.8
        source = self.override if tick >= 15 and self.override else self.cues
        if source:
            colour, level = source.popleft()
            self.levels[colour] = float(level)
            self.playing = colour

    def state(self):
        return {"playing": self.playing,
                "levels": {c: round(v, 4) for c, v in self.levels.items()}}

    def restore(self, state):
        self.playing, self.levels = state["playing"], dict(state["levels"])


def plotted(rng, count):
    for _ in range(count):
        yield COLOURS[int(rng.integers(len(COLOURS)))], int(rng.integers(10, 100))


def main(run):
    options = read_options(os.environ)
    accents = Accents(run.streams.python("accents"), options)
    board = Board()
    run.track("board", board)
    board.plot(plotted(run.rng("plot"), 24))
    accents.check()
    board.store_blackout_scene(accents.stream(), 6)
    for tick in run.ticks(24):
        board.go(tick)
    return board.playing
