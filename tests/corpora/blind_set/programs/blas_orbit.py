"""Telescopes line up on a target: long baselines are multiplied out with numpy, and a servo follows."""

import numpy as np


class Array:
    """Dishes with samples of a signal; the correlation of two of them is a long product."""

    def __init__(self, rng, dishes, samples):
        self.signal = rng.standard_normal((dishes, samples))
        self.sky = rng.standard_normal(samples)

    def drift(self, tick):
        self.signal = np.roll(self.signal, 1 + tick % 3, axis=1)  # innocent

    def correlate(self, dish):
        return float(np.dot(self.signal[dish], self.sky))  # guilty

    def power(self, dish):
        return float(np.abs(self.signal[dish]).max())  # innocent


class Servo:
    def __init__(self, dishes):
        self.angle = [0.31 + 0.05 * k for k in range(dishes)]
        self.steps = 0

    def follow(self, dish, error):
        """A tent map, nudged by the error."""
        angle = (self.angle[dish] + error * 0.01) % 1.0
        self.angle[dish] = 1.99 * angle if angle < 0.5 else 1.99 * (1.0 - angle)
        self.steps += 1


class Weather:
    def __init__(self, rng):
        self.rng = rng
        self.cloud = 0.5
        self.closed = 0

    def change(self):
        self.cloud = min(1.0, max(0.0, self.cloud + float(self.rng.normal(0, 0.1))))
        self.closed += self.cloud > 0.95


def main(run):
    dishes = 3
    array = Array(run.rng("sky"), dishes, 60_000)
    servo = run.track("servo", Servo(dishes))
    weather = run.track("weather", Weather(run.rng("weather")))
    night = run.track("night", {"observed": 0, "power": 0.0, "cold": 0.0})
    cold = run.rng("cold")
    broken = {2} if dishes > 3 else set()
    for tick in run.ticks(30):
        weather.change()
        array.drift(tick)
        for dish in range(dishes):
            if dish in broken:  # innocent
                continue
            if tick >= 4:
                servo.follow(dish, array.correlate(dish))
            night["power"] = max(night["power"], array.power(dish))
        night["observed"] += 1
        night["cold"] -= float(cold.random())
