"""Proof sheets of a newspaper: stories are set into columns, overset lines are cut from the tail."""
import shutil
import textwrap

WORDS = ("harbour council bridge budget strike mayor railway winter vote storm school market price "
         "engine signal ferry bakery telescope champion derby the of and to in for on with").split()


class Setter:
    gutter = 2

    def __init__(self, columns, depth):
        self.columns = columns
        self.depth = depth

    @property
    def measure(self):
        sheet = shutil.get_terminal_size(fallback=(96, 40)).columns
        return (sheet - self.gutter * (self.columns - 1)) // self.columns

    def lines(self, text):
        return textwrap.wrap(text, self.measure)


class Page(Setter):
    def __init__(self, columns=4, depth=30):
        super().__init__(columns, depth)
        self.left = columns * depth
        self.cut = 0
        self.set = 0
        self.stories = 0

    def add(self, text):
        lines = self.lines(text)
        room = min(len(lines), self.left)
        self.cut += len(lines) - room
        self.set += room
        self.left -= room
        self.stories += 1

    def turn(self):
        self.left = self.columns * self.depth

    def state(self):
        return {"left": self.left, "cut": self.cut, "set": self.set, "stories": self.stories}

    def restore(self, state):
        self.left, self.cut, self.set, self.stories = (state[k] for k in ("left", "cut", "set", "stories"))


def copy_desk(rng):
    while True:
        size = rng.randint(20, 120)
        yield " ".join(rng.choices(WORDS, k=size)).capitalize() + "."


def main(run):
    page = run.track("page", Page())
    desk = copy_desk(run.streams.python("copy"))
    for tick in run.ticks(15):
        if tick % 5 == 0:
            page.turn()
        for _ in range(3):
            page.add(next(desk))
    return page.cut
