"""Letters to the editor: each letter is checked against the house style, kept in a file beside the desk."""
import json
import os
import tempfile

STYLE = {"max_words": 60, "banned": ["utilise", "impactful", "synergy"], "reserve": 3, "page": 5}
VOCABULARY = ["sir", "the", "railway", "is", "late", "again", "utilise", "bakery", "smell", "harbour", "noise",
              "synergy", "council", "should", "act", "chess", "in", "park", "impactful", "stars", "bright"]


class House:
    """The style, read from its file; operators may switch the cache off to edit it live."""

    def __init__(self, folder):
        self.path = os.path.join(folder, "style.json")
        self.keep = None
        with open(self.path, "w", encoding="utf-8") as out:
            json.dump(STYLE, out)

    @property
    def caching(self):
        return os.environ.get("STYLE_CACHE", "on") != "off"

    @property
    def rules(self):
        if self.keep is not None and self.caching:
            return self.keep
        with open(self.path, encoding="utf-8") as source:
            self.keep = json.load(source)
        return self.keep


class Desk:
    def __init__(self, house):
        self.house = house
        self.printed = []
        self.reserve = []
        self.spiked = 0

    def judge(self, letter):
        rules = self.house.rules
        words = letter["words"]
        if len(words) > rules["max_words"]:
            return "spike"
        bad = sum(word in rules["banned"] for word in words)
        return "spike" if bad > 6 else ("reserve" if bad > 2 else "print")

    def handle(self, letters):
        page = 0
        for letter in letters:
            verdict = self.judge(letter)
            if verdict == "print" and page < self.house.rules["page"]:
                self.printed.append(letter["number"])
                page += 1
            elif verdict != "spike" and len(self.reserve) < self.house.rules["reserve"]:
                self.reserve.append(letter["number"])
            else:
                self.spiked += 1
        while page < self.house.rules["page"] and self.reserve:
            self.printed.append(self.reserve.pop(0))
            page += 1

    def state(self):
        return {"printed": self.printed[-5:], "count": len(self.printed), "reserve": list(self.reserve),
                "spiked": self.spiked}

    def restore(self, state):
        self.reserve = list(state["reserve"])
        self.spiked = state["spiked"]


def post(rng):
    number = 0
    while True:
        yield [{"number": (number := number + 1), "words": rng.choices(VOCABULARY, k=rng.randint(12, 66))}
               for _ in range(rng.randint(3, 9))]


def main(run):
    bag = post(run.streams.python("post"))
    with tempfile.TemporaryDirectory(prefix="letters-") as folder:
        desk = run.track("desk", Desk(House(folder)))
        for _ in run.ticks(16):
            desk.handle(next(bag))
    return desk.spiked
