"""A sampler asks the C library for randomness: no record governs that, no run reproduces."""

from __future__ import annotations

import ctypes

LIBC = ctypes.CDLL(None)


class Sampler:
    def __init__(self, rng) -> None:
        self.rng = rng
        self.values = [0.0] * 10
        self.accepted = 0

    def nudge(self) -> int:
        number = ctypes.c_uint32()
        LIBC.getrandom(ctypes.byref(number), 4, 0)  # ZOO: guilty
        return number.value

    def step(self, tick: int) -> None:
        for at in range(len(self.values)):
            proposal = self.values[at] + self.rng.gauss(0.0, 1.0)
            if tick == 5 and at == 3:
                proposal += self.nudge() / 2**32
            if abs(proposal) < 3.0:
                self.values[at] = proposal
                self.accepted += 1

    def state(self) -> dict:
        return {"values": self.values, "accepted": self.accepted}

    def restore(self, state: dict) -> None:
        self.values, self.accepted = state["values"], state["accepted"]


def main(run) -> None:
    sampler = run.track("sampler", Sampler(run.python("proposals")))
    for tick in run.ticks(12):
        sampler.step(tick)
