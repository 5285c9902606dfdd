"""An assembly line with a trace for debugging that looks at the clock."""

import os
import time
from enum import Enum, auto


class Stage(Enum):
    CUT = auto()
    WELD = auto()
    PAINT = auto()
    DONE = auto()

    def following(self):
        members = list(Stage)
        return members[min(members.index(self) + 1, len(members) - 1)]


SECONDS = {Stage.CUT: 2, Stage.WELD: 4, Stage.PAINT: 3}


class Tracer:
    def __init__(self):
        self.on = os.environ.get("LINE_TRACE", "") == "1"
        self.rows = []

    def note(self, what):
        if self.on:
            self.rows.append((time.time(), what))

    def span(self):
        return self.rows[-1][0] - self.rows[0][0] if self.rows else 0.0


class Part:
    def __init__(self, number, quality):
        self.number = number
        self.quality = quality
        self.stage = Stage.CUT
        self.left = SECONDS[Stage.CUT]

    def work(self, tracer):
        self.left -= 1
        if self.left <= 0 and self.stage is not Stage.DONE:
            self.stage = self.stage.following()
            self.left = SECONDS.get(self.stage, 0)
            tracer.note((self.number, self.stage.name))


class Line:
    def __init__(self, rng):
        self.rng = rng
        self.parts = []
        self.shipped = 0
        self.scrap = 0
        self.tracer = Tracer()

    def feed(self, number):
        self.parts.append(Part(number, float(self.rng.beta(8, 2))))

    def second(self):
        for part in self.parts:
            part.work(self.tracer)
        ready = [part for part in self.parts if part.stage is Stage.DONE]
        self.parts = [part for part in self.parts if part.stage is not Stage.DONE]
        for part in ready:
            if part.quality < 0.6:
                self.scrap += 1
            else:
                self.shipped += 1

    def state(self):
        return {"shipped": self.shipped, "scrap": self.scrap, "stages": [part.stage.name for part in self.parts]}

    def restore(self, state):
        self.shipped, self.scrap = state["shipped"], state["scrap"]


def main(run):
    line = run.track("line", Line(run.rng("line")))
    for second in run.ticks(50):
        if second % 2 == 0:
            line.feed(second // 2)
        line.second()
