"""Daily sunshine totals from a recorder that stores epoch seconds."""
from datetime import datetime

import numpy as np
import pandas as pd

EPOCH = 1_718_000_000


def local_day(stamp):
    return datetime.fromtimestamp(stamp).date().isoformat()


def batch(rng, start, count=8):
    stamps = start + np.arange(count) * 3600
    minutes = np.clip(rng.normal(25, 20, size=count), 0, 60).round(1)
    return pd.DataFrame({"stamp": stamps, "minutes": minutes})


class Recorder:
    def __init__(self):
        self.frames = []
        self.daily = {}
        self.samples = 0

    def add(self, frame):
        self.samples += len(frame)
        self.frames.append(frame)

    def summarise(self):
        everything = pd.concat(self.frames, ignore_index=True)
        days = everything["stamp"].map(lambda s: local_day(int(s)))
        totals = everything.groupby(days)["minutes"].sum() / 60
        self.daily = {day: round(float(v), 3) for day, v in totals.items()}

    def state(self):
        return {"samples": self.samples, "daily": dict(self.daily)}

    def restore(self, state):
        self.samples, self.daily = state["samples"], dict(state["daily"])


def main(run):
    rng = run.rng("sun")
    recorder = run.track("recorder", Recorder())
    for tick in run.ticks(12):
        recorder.add(batch(rng, EPOCH + tick * 8 * 3600))
        if tick % 3 == 2:
            recorder.summarise()
    return max(recorder.daily.values())
