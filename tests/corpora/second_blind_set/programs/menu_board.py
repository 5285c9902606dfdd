"""A canteen: dishes come from a data file, guests choose, and the board shows the favourites."""

import locale
from pathlib import Path

DISHES = Path(__file__).with_name("menu_board_dishes.txt")


class Dish:
    def __init__(self, name, price, appeal):
        self.name = name
        self.price = price
        self.appeal = appeal
        self.sold = 0

    @classmethod
    def parse(cls, line):
        name, price, appeal = (part.strip() for part in line.split("|"))
        return cls(name, int(price), int(appeal))


def load(path):
    """The file was typed by the cook, in whatever way."""
    raw = path.read_bytes()
    text = raw.decode(locale.getpreferredencoding(False), errors="ignore")
    return [Dish.parse(line) for line in text.splitlines() if line and not line.startswith("#")]


class Board:
    """A split-flap display with room for so many letters a day."""

    def __init__(self, columns):
        self.columns = columns
        self.text = ""
        self.flaps = 0

    def show(self, names):
        line = " / ".join(names)[: self.columns].ljust(self.columns)
        self.flaps += sum(1 for old, new in zip(self.text.ljust(self.columns), line) if old != new)
        self.text = line

    def state(self):
        return {"flaps": self.flaps}

    def restore(self, state):
        self.flaps = state["flaps"]


class Canteen:
    def __init__(self, dishes, rng):
        self.dishes = dishes
        self.rng = rng
        self.takings = 0

    def lunch(self):
        weights = [dish.appeal / (1 + dish.price // 400) for dish in self.dishes]
        total = sum(weights)
        for pick in self.rng.choice(len(self.dishes), size=12, p=[weight / total for weight in weights]):
            self.dishes[pick].sold += 1
            self.takings += self.dishes[pick].price

    def favourites(self, count):
        return [dish.name for dish in sorted(self.dishes, key=lambda dish: -dish.sold)[:count]]


def main(run):
    canteen = Canteen(load(DISHES), run.rng("guests"))
    board = run.track("board", Board(44))
    run.track("canteen", canteen, fields=["takings"])
    for day in run.ticks(30):
        canteen.lunch()
        if day >= 5 and day % 5 == 0:
            board.show(canteen.favourites(4))
