"""Canteen: recipe cards are wrapped to the printer's width and filed; the number of lines decides the cook's time."""
import os
import shutil
import tempfile
import textwrap

RECIPES = {
    "dumplings": "Rub the suet into the flour with cold hands, add herbs and enough water to bind, roll into balls the "
    "size of a walnut and lower into simmering stock for twenty minutes without lifting the lid.",
    "medlar jelly": "Blet the fruit until soft, simmer with lemon peel, strain overnight through muslin and do not squeeze, "
    "then boil with the same weight of sugar until a drop sets on a cold plate.",
    "pease pudding": "Soak the split peas, tie them loosely in a cloth with an onion, boil beside the ham for two hours, "
    "press through a sieve and beat with butter.",
}


class CardPrinter:
    """Wraps the text to the width it found when it was switched on."""

    def __init__(self):
        self.width = shutil.get_terminal_size((60, 20)).columns

    def print_card(self, folder, title, text):
        path = os.path.join(folder, title.replace(" ", "_") + ".txt")
        with open(path, "w", encoding="utf-8") as card:
            card.write(textwrap.fill(text, self.width - 10))
        return path


class CardBox:
    def __init__(self, folder):
        self._folder = folder
        self._paths = {}

    def file_all(self, printer, recipes):
        for title, text in recipes.items():
            self._paths[title] = printer.print_card(self._folder, title, text)

    def lines(self, title):
        with open(self._paths[title], encoding="utf-8") as card:
            return card.read().splitlines()


class Kitchen:
    def __init__(self, cards):
        self._cards = cards
        self.minutes = 0
        self.plates = 0
        self.known = []

    def state(self):
        return {"minutes": self.minutes, "plates": self.plates, "known": list(self.known)}

    def restore(self, state):
        self.minutes, self.plates, self.known = state["minutes"], state["plates"], list(state["known"])

    def cook(self, title, covers):
        """A dish from memory takes eight minutes; a new one also a minute for every line of the card."""
        if title not in self.known and title in RECIPES:
            self.minutes += len(self._cards.lines(title))
            self.known.append(title)
        self.minutes += 8
        self.plates += covers


def bookings(rng, n):
    house = ["toast", "eggs", "porridge"]
    for i in range(n):
        if i >= 10 and i % 3 == 1:
            yield sorted(RECIPES)[int(rng.integers(len(RECIPES)))], int(rng.integers(2, 9))
        else:
            yield house[i % 3], int(rng.integers(2, 9))


def main(run):
    diary = list(bookings(run.rng("diary"), 24))
    with tempfile.TemporaryDirectory() as folder:
        cards = CardBox(folder)
        cards.file_all(CardPrinter(), RECIPES)
        kitchen = run.track("kitchen", Kitchen(cards))
        for tick in run.ticks(24):
            kitchen.cook(*diary[tick])
    run.compare("plates", kitchen.plates)
    return kitchen.minutes
