"""An audio engine: voices are mixed to loudspeakers, and a room's response comes in with the second movement."""

from collections import deque

import numpy as np

VOICES = 48
SPEAKERS = 400
BLOCK = 1600
SECOND_MOVEMENT = 9


class Voice:
    def __init__(self, index, rng):
        self.frequency = 110.0 * 2 ** (index / 12)
        self.phase = float(rng.uniform(0, 2 * np.pi))
        self.gain = float(rng.uniform(0.2, 1.0))

    def block(self, start):
        t = (start + np.arange(BLOCK)) / 48000.0
        return self.gain * np.sin(2 * np.pi * self.frequency * t + self.phase)


class Room:
    """Walls that swallow one part and give the rest back some bars later."""

    DELAY = 4

    def __init__(self, rng):
        self.response = rng.uniform(0.5, 1.5, size=(SPEAKERS, 1))
        self.tail = deque()

    def listen(self, field):
        heard = self.response * field
        flat = heard.reshape(-1)
        self.tail.append(float(np.dot(flat, flat)) / flat.size)
        return heard

    def returning(self):
        return self.tail.popleft() if len(self.tail) > self.DELAY else 0.0


class Panner:
    def __init__(self, rng):
        self.angles = rng.uniform(0, 2 * np.pi, size=VOICES)
        self.places = np.linspace(0, 2 * np.pi, SPEAKERS, endpoint=False)

    def turn(self, amounts):
        self.angles = (self.angles + amounts) % (2 * np.pi)

    def pan(self, blocks):
        gains = np.maximum(0.0, np.cos(self.places[:, None] - self.angles[None, :]))
        return np.einsum("sv,vt->st", gains, blocks, optimize=False)


class Meter:
    """What the console shows: peak and loudness in whole steps, and the level of what the walls return."""

    def __init__(self):
        self.peak = 0
        self.loudness = 0
        self.level = 0.0
        self.voices = 0

    def read(self, sound, returning):
        self.peak = max(self.peak, int(1000 * np.abs(sound).max()))
        self.loudness += int(100 * np.sqrt(np.mean(np.square(sound))))
        self.level = 0.9 * self.level + 0.1 * returning ** 0.5

    def state(self):
        return {"peak": self.peak, "loudness": self.loudness, "level": self.level, "voices": self.voices}

    def restore(self, state):
        self.peak, self.loudness = state["peak"], state["loudness"]
        self.level, self.voices = state["level"], state["voices"]


class Score:
    def __init__(self, rng):
        self.rng = rng
        self.playing = set()

    def next_bar(self):
        for index in self.rng.choice(VOICES, size=6, replace=False):
            self.playing ^= {int(index)}
        return sorted(self.playing)


def main(run):
    tuning, moves = run.rng("tuning"), run.rng("moves")
    voices = [Voice(i, tuning) for i in range(VOICES)]
    panner, room = Panner(run.rng("panner")), Room(run.rng("room"))
    score = Score(run.rng("score"))
    meter = run.track("meter", Meter())
    silence = np.zeros(BLOCK)
    for tick in run.ticks(18):
        playing = score.next_bar()
        blocks = np.stack([voices[i].block(tick * BLOCK) if i in playing else silence for i in range(VOICES)])
        panner.turn(moves.normal(0, 0.05, size=VOICES))
        sound = panner.pan(blocks)
        if tick >= SECOND_MOVEMENT:
            sound = room.listen(sound)
        meter.voices = len(playing)
        meter.read(sound, room.returning())
