"""A summit book: entries are rendered with jinja2 and the page's checksum picks the next stamp."""
import zlib
from dataclasses import dataclass, field

from jinja2 import Environment

PAGE = """\
Day {{ day }}: {{ names | join(", ") }}
{% for remark in entry.remarks %}
  - {{ remark }}
{%- endfor %}
Stamp {{ stamp }}
"""
WORDS = ["windy", "clear", "cold", "alone", "crowded", "early", "icy", "sunny"]
PARTIES = ["Hillary", "Tabei", "Messner", "Kukuczka", "Kaltenbrunner"]


@dataclass
class Entry:
    day: int
    names: list
    words: list = field(default_factory=list)

    @property
    def remarks(self):
        """Each remark once, however often the parties wrote it."""
        return set(self.words)


class Book:
    def __init__(self, env):
        self.template = env.get_template("page")
        self.pages = []
        self.stamp = 7

    def write(self, entry):
        page = self.template.render(
            day=entry.day,
            names=entry.names,
            entry=entry,
            stamp=self.stamp,
        )
        self.pages.append(page)
        self.stamp = zlib.crc32(page.encode()) % 1000
        return len(page)

    def state(self):
        return {"pages": len(self.pages), "stamp": self.stamp,
                "letters": sum(len(page) for page in self.pages)}

    def restore(self, state):
        self.stamp = state["stamp"]


def loader(name):
    return {"page": PAGE}[name]


def climbers(rng):
    count = int(rng.integers(1, 4))
    return [PARTIES[int(i)] for i in rng.permutation(len(PARTIES))[:count]]


def remarks(rng, tick):
    """Nobody writes remarks in the first, foggy week."""
    if tick < 6:
        return [WORDS[tick % 2]]
    return [WORDS[int(i)] for i in rng.integers(len(WORDS), size=7)]


def main(run):
    from jinja2 import FunctionLoader
    env = Environment(loader=FunctionLoader(loader), keep_trailing_newline=True)
    book = Book(env)
    run.track("book", book)
    rng = run.rng("summit")
    for tick in run.ticks(14):
        letters = book.write(Entry(tick, climbers(rng), remarks(rng, tick)))
        run.compare("letters", letters)
    return book.stamp
