"""A scoreboard in a terminal: team names are wrapped to the width there is, and pages turn when full."""
import shutil
import textwrap
from collections import deque

TEAMS = ["Harlequins", "Saracens", "Leicester Tigers", "Northampton Saints", "Exeter Chiefs", "Sale Sharks"]


def width():
    size = shutil.get_terminal_size(fallback=(80, 24))
    return size.columns


class Board:
    def __init__(self, columns):
        self.columns = columns
        self.lines = deque(maxlen=12)
        self.pages = 0

    def post(self, text):
        for line in textwrap.wrap(text, self.columns):
            if len(self.lines) == self.lines.maxlen:
                self.lines.clear()
                self.pages += 1
            self.lines.append(line)

    def state(self):
        return {"lines": len(self.lines), "pages": self.pages}

    def restore(self, state):
        self.pages = state["pages"]


def main(run):
    rng = run.rng("tries")
    board = run.track("board", Board(width()))
    scores = {team: 0 for team in TEAMS}
    for tick in run.ticks(24):
        team = TEAMS[int(rng.integers(len(TEAMS)))]
        scores[team] += 5 if rng.random() < 0.6 else 3
        shown = [f"{t} {s}" for t, s in scores.items() if s]
        board.post(", ".join(shown))
    return board.pages
