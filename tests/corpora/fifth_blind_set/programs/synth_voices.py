"""Polyphonic synth: voice stealing, with a per-block timing printed to nowhere."""
import os
import time
from contextlib import contextmanager


@contextmanager
def stopwatch(label, out):
    began = time.perf_counter()
    try:
        yield
    finally:
        spent = time.perf_counter() - began
        print(f"{time.time():.6f} {label} {spent * 1e6:.1f}us", file=out)


class Voice:
    def __init__(self, note, started):
        self.note, self.started, self.level = note, started, 1.0

    def decay(self):
        self.level *= 0.8


class Synth:
    def __init__(self, limit):
        self.limit = limit
        self.voices = []
        self.stolen = 0
        self.energy = 0.0

    def press(self, note, now):
        if len(self.voices) >= self.limit:
            oldest = min(self.voices, key=lambda v: (v.started, v.note))
            self.voices.remove(oldest)
            self.stolen += 1
        self.voices.append(Voice(note, now))

    def render(self):
        for voice in self.voices:
            voice.decay()
        self.voices = [v for v in self.voices if v.level > 0.1]
        self.energy += sum(v.level ** 2 for v in self.voices)

    def state(self):
        return {"notes": [v.note for v in self.voices], "stolen": self.stolen,
                "energy": round(self.energy, 9)}

    def restore(self, state):
        self.stolen, self.energy = state["stolen"], state["energy"]


def main(run):
    rng = run.rng("keys")
    synth = run.track("synth", Synth(limit=5))
    with open(os.devnull, "w") as out:
        for tick in run.ticks(24):
            with stopwatch(f"block {tick}", out):
                for note in rng.integers(40, 80, size=2):
                    synth.press(int(note), tick)
                synth.render()
    return synth.stolen
