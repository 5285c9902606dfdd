"""Menu board: the chef's file is read with whatever encoding the machine prefers, letters are laid on a board of tiles."""
import os
import tempfile

MENU = {
    "monday": "Leek and potato soup|Roast hake",
    "tuesday": "Barley broth|Pork and apples",
    "wednesday": "Pea soup|Poached eggs",
    "thursday": "Consomm\u00e9|Chicken \u00e0 la cr\u00e8me",
    "friday": "Bisque|P\u00e2t\u00e9 en cro\u00fbte",
    "saturday": "Jus|S\u00f8lvbrasen og rugbr\u00f8d",
}


class MenuFolder:
    """One file for each day, written in UTF-8 by the chef's tablet."""

    def __init__(self, root):
        self.root = root
        for day, text in MENU.items():
            with open(self.path(day), "wb") as out:
                out.write(text.encode("utf-8"))

    def path(self, day):
        return os.path.join(self.root, f"{day}.txt")

    def courses(self, day):
        with open(self.path(day), errors="replace") as source:
            text = source.read()
        return text.split("|")


class Board:
    """A board with a limited stock of letter tiles; accents are made with a brush."""

    def __init__(self, folder):
        self._folder = folder
        self.tiles = 400
        self.brush = 0
        self.longest = 0
        self.width = []

    def state(self):
        return {"tiles": self.tiles, "brush": self.brush, "longest": self.longest, "width": list(self.width)}

    def restore(self, state):
        self.tiles, self.brush, self.longest = state["tiles"], state["brush"], state["longest"]
        self.width = list(state["width"])

    def lay(self, line):
        for letter in line:
            if letter == " ":
                continue
            self.tiles -= 1
            if not letter.isascii():
                self.brush += 1
        self.longest = max(self.longest, len(line))

    def clear(self):
        self.tiles += sum(self.width) * 3 // 4
        self.width = []

    def show(self, day):
        self.clear()
        for course in self._folder.courses(day):
            self.lay(course)
            self.width.append(len(course))


def main(run):
    days = list(MENU)
    late = run.rng("late")
    with tempfile.TemporaryDirectory() as root:
        board = run.track("board", Board(MenuFolder(root)))
        for tick in run.ticks(18):
            board.show(days[(tick // 2) % len(days)])
            if float(late.random()) < 0.2:
                board.tiles += 1
    return board.longest
