"""Spectra of a lake buoy: a long buffer fills, and a daily summary is taken from it."""

import numpy as np
import torch


class Buoy:
    """Waves with a slow swell and a fast chop."""

    def __init__(self, rng):
        self.rng = rng
        self.phase = 0.0
        self.battery = 100.0

    def sample(self, count):
        swell = np.sin(self.phase + np.arange(count) * 0.002)
        chop = self.rng.standard_normal(count) * 0.3
        self.phase = (self.phase + count * 0.002) % 6.283185
        self.battery -= 0.01
        return (swell + chop).astype(np.float32)


class Recorder:
    def __init__(self, size):
        self.buffer = torch.zeros(size, dtype=torch.float32)
        self.at = 0

    def write(self, block):
        count = len(block)
        self.buffer[self.at : self.at + count] = torch.from_numpy(block)
        self.at = (self.at + count) % len(self.buffer)


class Summary:
    """What goes home over the satellite link."""

    def __init__(self):
        self.mean = 0.0
        self.significant = 0.0
        self.sent = []

    def update(self, buffer):
        mean = buffer.sum() / len(buffer)
        self.mean = float(mean)
        self.significant = round(4.0 * float(buffer.std()), 2)

    def send(self, tick):
        self.sent.append((tick, round(self.significant, 1)))

    def state(self):
        return {"mean": self.mean, "sent": list(self.sent)}

    def restore(self, state):
        self.mean, self.sent = state["mean"], list(state["sent"])


def storm_factor(tick):
    return 1.0 + 0.5 * (tick // 6)


def main(run):
    buoy = Buoy(run.rng("buoy"))
    run.track("buoy", buoy, fields=["battery"])
    recorder = Recorder(800_000)
    summary = run.track("summary", Summary())
    for tick in run.ticks(16):
        recorder.write(buoy.sample(50_000) * np.float32(storm_factor(tick)))
        if tick % 8 == 7:
            summary.update(recorder.buffer)
            summary.send(tick)
