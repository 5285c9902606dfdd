"""The climate of a greenhouse under a thermostat, in single precision."""

import numpy as np


class Greenhouse:
    def __init__(self, weather):
        self.weather = weather
        self.air = np.float32(18.0)
        self.soil = np.float32(14.0)
        self.humidity = np.float32(0.6)
        self.heating = False
        self.energy = 0.0

    def exchange(self, outside):
        """Let heat pass through the glass and into the soil."""
        leak = (self.air - np.float32(outside)) * 0.013
        sink = (self.air - self.soil) * 0.021
        self.air = self.air - leak - sink
        self.soil = self.soil + sink * 0.4

    def heat(self):
        """Switch the heating with a dead band."""
        if self.air < 17.5:
            self.heating = True
        elif self.air > 20.5:
            self.heating = False
        if self.heating:
            self.air = self.air + 0.35
            self.energy += 1.2

    def step(self, minute):
        outside = 8 + self.weather.integers(-3, 4)
        self.exchange(outside)
        self.heat()
        self.humidity = self.humidity + (0.7 - self.humidity) * 0.05


def main(run):
    house = run.track("house", Greenhouse(run.rng("weather")))
    for minute in run.ticks(60):
        house.step(minute)
