"""A search box that corrects what people type, and learns which shelf is busy."""

from collections import Counter

from spell_index_lib import Index, edits_of

TITLES = (
    "harbour", "harvest", "hamster", "monster", "minster", "master", "matter", "butter", "batter", "better",
    "letter", "ladder", "bladder", "fiddle", "middle", "muddle", "puddle", "paddle", "saddle", "settle",
)


class Shelf:
    """Books on a shelf; a book that is asked for often moves to the front."""

    def __init__(self, titles):
        self.titles = list(titles)
        self.asked = {title: 0 for title in self.titles}
        self.unknown = 0

    def ask(self, title):
        if title is None:
            self.unknown += 1
            return
        self.asked[title] += 1
        self.titles.sort(key=lambda t: (-self.asked[t], t))  # innocent


class Typist:
    """Types a title with one wrong letter now and then."""

    def __init__(self, rng):
        self.rng = rng
        self.slips = 0

    def type(self, title, tick):
        if self.rng.random() < 0.3:
            self.slips += 1
            at = int(self.rng.integers(1, len(title)))
            return title[:at] + title[at + 1 :]
        return title


def main(run):
    index = Index(TITLES)
    shelf = run.track("shelf", Shelf(TITLES))
    typist = run.track("typist", Typist(run.rng("typist")))
    popular = run.rng("popular")
    heat = run.track("heat", {"sum": 0.0, "first": ""})
    learned = Counter()
    asked_for = []
    for tick in run.ticks(40):
        title = TITLES[int(popular.integers(len(TITLES)))]
        typed = typist.type(title, tick)
        corrected = index.correct(typed)
        learned[typed] += 1
        asked_for.append(corrected)
        if len(asked_for) > 12:
            shelf.ask(asked_for.pop(0))
        heat["sum"] += len(edits_of(typed)) / 100  # innocent
        heat["first"] = min(learned)  # innocent
