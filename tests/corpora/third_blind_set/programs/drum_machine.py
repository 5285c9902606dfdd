"""A drum machine: patterns are rendered to samples, packed as FLAC, and metered bar by bar."""

import io
import math
import random
import time

import numpy as np
import soundfile

RATE = 8000
STEP = RATE // 8
BARS = 10
PATTERNS = {
    "kick": "x...x...x...x.x.",
    "hat": "x.x.x.x.x.x.x.xx",
    "clap": "....x.......x...",
}
FILL_FROM = 6


def decay(length, speed):
    return np.exp(-speed * np.arange(length) / RATE)


def kick():
    t = np.arange(STEP) / RATE
    while True:
        yield 0.9 * np.sin(2 * math.pi * (50 + 60 * decay(STEP, 30)) * t) * decay(STEP, 14)


def hiss(dice, level, speed):
    """Filtered noise, another one at each stroke."""
    while True:
        noise = np.array([dice.uniform(-1, 1) for _ in range(STEP)])
        yield level * np.diff(noise, prepend=0.0) * decay(STEP, speed)


class Humaniser:
    """Small shifts and accents for the fills, so that they do not sound like a machine."""

    def __init__(self):
        self.dice = random.Random(time.time_ns() >> 10)
        self.strokes = 0

    def accent(self):
        self.strokes += 1
        return 0.5 + 0.5 * self.dice.random()


class Kit:
    def __init__(self):
        self.voices = {"kick": kick(), "hat": hiss(random, 0.25, 60), "clap": hiss(random.Random(12), 0.5, 20)}
        self.humaniser = Humaniser()
        self.started = time.perf_counter()

    def stroke(self, name, human):
        sound = next(self.voices[name])
        return sound * self.humaniser.accent() if human else sound

    def elapsed(self):
        return time.perf_counter() - self.started


def render_bar(kit, bar):
    samples = np.zeros(16 * STEP)
    for step in range(16):
        for name, pattern in PATTERNS.items():
            fill = bar >= FILL_FROM and name == "clap"
            if pattern[step] == "x":
                samples[step * STEP:(step + 1) * STEP] += kit.stroke(name, fill)
    return np.clip(samples, -1, 1)


def pack(samples):
    buffer = io.BytesIO()
    soundfile.write(buffer, samples.astype(np.float32), RATE, format="FLAC", subtype="PCM_16")
    return buffer.getvalue()


def main():
    kit, song = Kit(), []
    used = set()
    for bar in range(BARS):
        used.update(name for name, pattern in PATTERNS.items() if "x" in pattern)
        song.append(render_bar(kit, bar))
        rms = float(np.sqrt(np.mean(song[-1] ** 2)))
        print(f"bar {bar:2d}  rms {rms:.6f}  peak {np.abs(song[-1]).max():.4f}")
    slow = kit.elapsed() > 120
    packed = pack(np.concatenate(song))
    print(f"{len(used)} voices, {kit.humaniser.strokes} accents{', slow' if slow else ''}")
    print(f"{BARS * 2} seconds in {len(packed)} bytes")


main()
