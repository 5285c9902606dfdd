"""Monsoon bulletin: grid cells flood, a wrapped text goes to a paged display."""
import shutil
import textwrap
from enum import Flag, auto


class Warn(Flag):
    NONE = 0
    WATCH = auto()
    ALERT = auto()


class Grid:
    def __init__(self, size):
        self.size = size
        self.water = [0.0] * size

    def rain(self, amounts):
        self.water = [0.8 * w + float(a) for w, a in zip(self.water, amounts)]

    def warnings(self):
        for cell, water in enumerate(self.water):
            level = Warn.ALERT if water > 30 else Warn.WATCH if water > 20 else Warn.NONE
            if level:
                yield f"Cell {cell}: {level.name.lower()} at {water:.1f} mm."


class Bulletin:
    def __init__(self):
        self.lines = []
        self.pages = 0

    def compose(self, sentences):
        width = shutil.get_terminal_size((80, 24)).columns
        text = " ".join(sentences)
        self.lines = textwrap.wrap(text, width=width - 4)
        self.pages += -(-len(self.lines) // 3)

    def state(self):
        return {"lines": len(self.lines), "pages": self.pages,
                "first": self.lines[0] if self.lines else ""}

    def restore(self, state):
        self.pages = state["pages"]


def main(run):
    rng = run.rng("monsoon")
    grid, bulletin = Grid(9), Bulletin()
    run.track("bulletin", bulletin)
    for _ in run.ticks(15):
        grid.rain(rng.gamma(2.0, 3.0, size=9))
        if found := list(grid.warnings()):
            bulletin.compose(found)
    return bulletin.pages
