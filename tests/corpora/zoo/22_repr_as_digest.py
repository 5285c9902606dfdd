"""A rule engine identifies a set of facts by its text."""

from __future__ import annotations

import zlib

RULES = (
    ({"wet", "cold"}, "ice"),
    ({"wet", "warm"}, "fog"),
    ({"fog", "dark"}, "danger"),
    ({"ice", "dark"}, "danger"),
    ({"dry", "warm"}, "dust"),
)


class Engine:
    def __init__(self, rng) -> None:
        self.rng = rng
        self.facts = {"wet", "cold"}
        self.fired = 0
        self.key = 0

    def observe(self) -> None:
        for one, other in (("wet", "dry"), ("cold", "warm"), ("dark", "light")):
            self.facts -= {one, other}
            self.facts |= {one if self.rng.random() < 0.5 else other}

    def infer(self) -> None:
        for needed, conclusion in RULES:
            if needed <= self.facts:
                self.facts |= {conclusion}
                self.fired += 1

    def identify(self) -> None:
        text = repr(self.facts)  # ZOO: guilty
        self.key = zlib.crc32(text.encode())

    def state(self) -> dict:
        return {"facts": self.facts, "fired": self.fired, "key": self.key}

    def restore(self, state: dict) -> None:
        self.facts, self.fired, self.key = state["facts"], state["fired"], state["key"]


def main(run) -> None:
    engine = run.track("engine", Engine(run.python("sensors")))
    for _ in run.ticks(15):
        engine.observe()
        engine.infer()
        engine.identify()
