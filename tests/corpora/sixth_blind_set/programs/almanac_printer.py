"""Almanac printer: moon phases and tides are worked out page by page; progress goes to nobody."""
import math
import os
import time
from contextlib import contextmanager
from dataclasses import dataclass, field

SYNODIC = 29.530588


@dataclass
class Page:
    number: int
    lines: list = field(default_factory=list)

    def add(self, text):
        self.lines.append(text[:32].ljust(32))

    @property
    def ink(self):
        return sum(len(line.rstrip()) for line in self.lines)


class Press:
    def __init__(self, rnd, out):
        self.rnd = rnd
        self.out = out
        self.pages = []
        self.ink = 0
        self.spoiled = 0
        self._born = time.monotonic()

    def elapsed(self):
        return time.monotonic() - self._born

    @contextmanager
    def progress(self, number):
        began = time.perf_counter_ns()
        yield
        spent = time.perf_counter_ns() - began
        print(f"{time.ctime()} page {number} {spent} ns, {self.elapsed():.6f} s in all", file=self.out)

    def print_page(self, page):
        with self.progress(page.number):
            if self.rnd.random() < 0.15:
                self.spoiled += 1
                return
            self.ink += page.ink
            self.pages.append(page.number)

    def state(self):
        return {"pages": list(self.pages), "ink": self.ink, "spoiled": self.spoiled}

    def restore(self, state):
        self.pages, self.ink, self.spoiled = list(state["pages"]), state["ink"], state["spoiled"]


def phase(day):
    age = (day * 1.0 + 4.3) % SYNODIC
    lit = (1 - math.cos(2 * math.pi * age / SYNODIC)) / 2
    return age, lit


def week(number, rnd):
    page = Page(number)
    for day in range(number * 7, number * 7 + 7):
        age, lit = phase(day)
        high = 5.2 + 0.9 * math.cos(4 * math.pi * age / SYNODIC) + rnd.uniform(-0.05, 0.05)
        page.add(f"{day:4d} moon {lit:.2f} high {high:.2f}")
    return page


def main(run):
    rnd = run.streams.python("tides")
    with open(os.devnull, "w") as out:
        press = run.track("press", Press(run.streams.python("press"), out))
        for tick in run.ticks(20):
            press.print_page(week(tick, rnd))
    return {"ink": press.ink}
