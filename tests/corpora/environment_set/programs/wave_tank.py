"""A wave tank with paddles: floats ride on a sum of waves in single precision."""

import numpy as np

FLOATS = 64


class Tank:
    def __init__(self, rng):
        self.place = np.linspace(0, 30, FLOATS, dtype=np.float32)
        self.height = np.zeros(FLOATS, dtype=np.float32)
        self.waves = []
        self.rng = rng
        self.spilled = 0

    def push(self, tick):
        """Let a paddle make another wave."""
        length = np.float32(self.rng.integers(3, 12))
        self.waves.append((length, np.float32(0.1 * self.rng.integers(1, 5)), np.float32(tick)))
        self.waves = self.waves[-5:]

    def ride(self, tick):
        """Move the floats to the surface."""
        surface = np.zeros(FLOATS, dtype=np.float32)
        for length, size, born in self.waves:
            angle = np.float32(6.2831855) * (self.place / length) - (np.float32(tick) - born)
            surface += size * np.sin(angle)
        self.height = np.float32(0.75) * surface + np.float32(0.25) * self.height

    def step(self, tick):
        if tick % 4 == 0:
            self.push(tick)
        self.ride(tick)
        self.place += np.float32(0.01) * self.height
        self.spilled += int((self.height > np.float32(0.8)).sum())


def main(run):
    tank = run.track("tank", Tank(run.rng("paddle")))
    for tick in run.ticks(40):
        tank.step(tick)
    return tank.spilled
