"""Signal flags: a code book is made from the words in use; hoists are packed into numbers for the log."""
from enum import Enum, unique

PHRASES = [
    "enter harbour", "stand clear", "medical help", "pilot wanted", "drag anchor", "cargo dangerous",
    "stand by", "enter dock", "pilot aboard", "man overboard",
]


def vocabulary(phrases):
    return frozenset(word for phrase in phrases for word in phrase.split())


Flag = unique(Enum("Flag", " ".join(vocabulary(PHRASES))))


class Hoist:
    """Flags on one halyard; the log keeps only a packed number."""

    base = len(Flag) + 1

    def __init__(self, phrase):
        self.flags = [Flag[word] for word in phrase.split()]

    def packed(self):
        number = 0
        for flag in self.flags:
            number = number * self.base + flag.value
        return number


class Yeoman:
    def __init__(self):
        self.sent = []
        self.pending = []

    def order(self, phrase):
        self.pending.append(Hoist(phrase))

    def hoist(self, wind):
        """Nothing is hoisted in a calm: flags do not fly."""
        if wind < 4.0:
            return False
        while self.pending:
            self.sent.append(self.pending.pop(0).packed())
        return True

    def state(self):
        return {"pending": len(self.pending), "sent": len(self.sent), "check": sum(self.sent) % 9973}

    def restore(self, state):
        del self.sent[state["sent"]:]


def main(run):
    rnd = run.streams.python("orders")
    yeoman = run.track("yeoman", Yeoman())
    air = run.track("air", {"wind": 1.0, "flown": 0})
    for tick in run.ticks(20):
        air["wind"] = round(air["wind"] + rnd.uniform(0.1, 0.5), 3)
        if rnd.random() < 0.6:
            yeoman.order(rnd.choice(PHRASES))
        air["flown"] += yeoman.hoist(air["wind"])
    return len(yeoman.sent)
