"""The box-office terminal prints its own playbill: argparse builds the text, pages are cut by lines."""
import argparse
from dataclasses import dataclass

SHOWS = [
    ("hamlet", "A prince cannot make up his mind and the whole court pays for it in five long acts"),
    ("seagull", "Nothing is shot but a bird, and then something is; a comedy, the author insists"),
    ("tosca", "An opera in three acts with a chapel, a supper that goes cold and a leap"),
    ("revue", "Songs"),
    ("panto", "A cow, a giant and audience participation that cannot be avoided from any seat"),
]


@dataclass
class Poster:
    text: str

    @property
    def lines(self):
        return self.text.splitlines()

    def pages(self, height):
        return -(-len(self.lines) // height)


class Playbill:
    def __init__(self, prog):
        self.parser = argparse.ArgumentParser(prog=prog, add_help=False, description="Now playing")
        self.shows = 0

    def announce(self, name, blurb, price):
        self.parser.add_argument(f"--{name}", metavar=str(price), help=blurb)
        self.shows += 1

    def poster(self):
        return Poster(self.parser.format_help())


class Press:
    """Prints posters; ink and paper run down."""

    def __init__(self, rng):
        self.rng = rng
        self.paper, self.ink, self.jams = 4000, 900.0, 0

    def print(self, poster, copies):
        sheets = poster.pages(6) * copies
        self.paper -= sheets
        self.ink -= len("".join(poster.text.split())) * copies / 1500
        if self.rng.random() < 0.1:
            self.jams += 1
            self.paper -= 3

    def state(self):
        return {"paper": self.paper, "ink": round(self.ink, 4), "jams": self.jams}

    def restore(self, state):
        self.paper, self.ink, self.jams = state["paper"], state["ink"], state["jams"]


def premieres(tick):
    """One show joins the bill on every third evening."""
    if tick % 3 == 2 and tick // 3 < len(SHOWS):
        yield SHOWS[tick // 3]


def main(run):
    rng = run.rng("press")
    press = Press(rng)
    playbill = Playbill("theatre")
    run.track("press", press)
    for tick in run.ticks(18):
        for name, blurb in premieres(tick):
            playbill.announce(name, blurb, 8 + 2 * playbill.shows)
        if playbill.shows:
            press.print(playbill.poster(), int(rng.integers(4, 20)))
    return press.paper
