"""Listen for whales: clean the blocks of a hydrophone in the frequency domain and count calls."""

import numpy as np

BLOCK = 256


class Listener:
    def __init__(self, sea):
        self.sea = sea
        self.floor = np.zeros(BLOCK // 2 + 1, dtype=np.float64)
        self.loudest = []
        self.calls = 0

    def hear(self, block):
        """Return one block of samples: noise, and now and then a call."""
        samples = self.sea.integers(-200, 201, BLOCK)
        if block % 7 == 4:
            samples[40:120] += 150 * (1 - 2 * (np.arange(80) // 5 % 2))
        return (samples / 512).astype(np.float32)

    def clean(self, samples):
        """Take the learned floor off the spectrum."""
        spectrum = np.fft.rfft(samples)
        power = spectrum.real.astype(np.float64) ** 2 + spectrum.imag.astype(np.float64) ** 2
        above = np.maximum(power - self.floor, 0.0)
        self.floor = 0.9 * self.floor + 0.1 * power
        return above

    def step(self, block):
        above = self.clean(self.hear(block))
        peak = int(np.argmax(above[4:])) + 4
        self.loudest.append(peak)
        if above[peak] > 1.5 * self.floor.max():
            self.calls += 1


def main(run):
    listener = run.track("listener", Listener(run.rng("sea")))
    for block in run.ticks(40):
        listener.step(block)
    return listener.calls
