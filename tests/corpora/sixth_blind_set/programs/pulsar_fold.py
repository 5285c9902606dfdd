"""Pulsar timing backend: pulses are folded into a profile; glitches arrive rarely and use the backend's noise source."""
import os
from dataclasses import dataclass

import numpy as np

BINS = 16


@dataclass(frozen=True)
class Settings:
    period: float = 0.7143
    dither: bool = False
    glitch_after: int = 13

    @classmethod
    def load(cls, **over):
        over.setdefault("dither", os.environ.get("FOLD_DITHER", "0") == "1")
        return cls(**over)


class NoiseSource:
    def __init__(self, rng):
        self._rng = rng

    def ripple(self, n):
        return self._rng.normal(0.0, 0.05, size=n)

    def jump(self):
        return float(self._rng.exponential(0.08))


class Backend:
    def __init__(self, settings, noise):
        self.settings = settings
        self.noise = noise
        self.profile = np.zeros(BINS)
        self.phase = 0.0
        self.pulses = 0
        self.mask = self._self_test()

    def _self_test(self):
        """Flag bins whose response is off; with dither the comparator is rippled first."""
        response = np.ones(BINS)
        if self.settings.dither:
            response = response + self.noise.ripple(BINS) * 0.1
        return response < 0.5

    def fold(self, strength):
        where = int(self.phase * BINS) % BINS
        if not self.mask[where]:
            self.profile[where] += strength
        self.phase = (self.phase + 0.37 / self.settings.period) % 1.0
        self.pulses += 1

    def glitch(self):
        self.phase = (self.phase + self.noise.jump()) % 1.0

    def state(self):
        return {"profile": [round(float(x), 6) for x in self.profile], "phase": round(self.phase, 9), "pulses": self.pulses}

    def restore(self, state):
        self.profile = np.array(state["profile"])
        self.phase, self.pulses = state["phase"], state["pulses"]


def main(run):
    sky = run.rng("sky")
    backend = run.track("backend", Backend(Settings.load(period=0.8321), NoiseSource(run.rng("noise"))))
    seen = run.track("seen", {"glitches": 0, "bright": 0})
    for tick in run.ticks(30):
        for strength in sky.gamma(3.0, 1.0, size=3):
            seen["bright"] += int(strength > 5)
            backend.fold(float(strength))
        if tick > backend.settings.glitch_after and tick % 4 == 0:
            backend.glitch()
            seen["glitches"] += 1
    return backend.state()["phase"]
