"""Readings of electricity meters: chunk after chunk is cleaned, joined and summed; a crash may interrupt it."""

import os
import pickle
import random
import tempfile
from collections import deque

import pandas as pd

CHUNKS = 14
METERS = [f"M{n:03d}" for n in range(12)]
CRASH_AT = int(os.environ.get("METER_CRASH_AT", "-1"))


def read_chunks():
    """Late and repeated rows are part of life: some come again four to six chunks later."""
    serial, again = 0, {}
    for chunk in range(CHUNKS):
        rows = again.pop(chunk, [])
        for meter in METERS:
            serial += 1
            rows.append((serial, meter, random.randrange(100, 900)))
        for row in random.sample(rows, 2):
            if chunk % 3 == 1:
                again.setdefault(chunk + random.randrange(4, 7), []).append(row)
        yield pd.DataFrame(rows, columns=["serial", "meter", "watts"])


class Pipeline:
    def __init__(self):
        self.done = 0
        self.totals = pd.Series(0, index=METERS)
        self.peak = {}
        self.rejected = 0
        self.history = deque(maxlen=100)

    def clean(self, frame):
        known = set(self.history)
        fresh = frame[~frame["serial"].isin(known)]
        self.rejected += len(frame) - len(fresh)
        self.history.extend(int(serial) for serial in fresh["serial"])
        return fresh

    def load(self, frame):
        fresh = self.clean(frame)
        sums = fresh.groupby("meter")["watts"].sum()
        self.totals = self.totals.add(sums, fill_value=0).astype(int)
        for meter, watts in fresh.groupby("meter")["watts"].max().items():
            self.peak[meter] = max(int(watts), self.peak.get(meter, 0))
        self.done += 1

    def save(self, path):
        kept = {"done": self.done, "totals": self.totals, "peak": self.peak, "rejected": self.rejected}
        with open(path, "wb") as file:
            pickle.dump(kept, file)

    @classmethod
    def resume(cls, path):
        pipeline = cls()
        with open(path, "rb") as file:
            vars(pipeline).update(pickle.load(file))
        return pipeline


class Crash(Exception):
    pass


def work(pipeline, chunks, path, crash_at):
    for frame in chunks[pipeline.done:]:
        if pipeline.done == crash_at:
            raise Crash
        pipeline.load(frame)
        pipeline.save(path)
        if pipeline.done % 2 == 0:
            print(f"chunk {pipeline.done:2d}: {int(pipeline.totals.sum())} W in all, {len(pipeline.peak)} meters")
    return pipeline


def main():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "meters.ckpt")
        chunks = list(read_chunks())
        try:
            pipeline = work(Pipeline(), chunks, path, CRASH_AT)
        except Crash:
            pipeline = work(Pipeline.resume(path), chunks, path, -1)
    for meter in METERS:
        print(f"{meter} {pipeline.totals[meter]:>7} {pipeline.peak[meter]:>4}")
    print(f"{pipeline.rejected} rows had come before")


main()
