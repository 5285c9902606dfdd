"""Merge barometer readings of several stations into one pressure series."""
import numpy as np
import pandas as pd

STATIONS = ("cape", "delta9", "moor", "pier", "summit")


def read_station(name, rng, hour):
    offset = {"cape": 0.0, "delta9": 0.4, "moor": -0.3, "pier": 0.2, "summit": -0.9}[name]
    minutes = np.arange(hour * 60, hour * 60 + 60, 15)
    return pd.DataFrame({
        "minute": minutes,
        "hpa": np.round(1013 + offset + rng.normal(0, 0.5, size=len(minutes)), 2),
        "station": name,
    })


def merge(frames, wanted):
    parts = []
    for name in wanted & set(frames):
        parts.append(frames[name])
    merged = pd.concat(parts, ignore_index=True)
    merged = merged.drop_duplicates("minute", keep="first")
    return merged.sort_values("minute")


class Series:
    def __init__(self):
        self.mean = 0.0
        self.rows = 0
        self.trend = []

    def extend(self, frame):
        self.rows += len(frame)
        self.mean = round(float(frame["hpa"].mean()), 4)
        self.trend = (self.trend + [self.mean])[-6:]

    def state(self):
        return {"mean": self.mean, "rows": self.rows, "trend": list(self.trend)}

    def restore(self, state):
        self.mean, self.rows = state["mean"], state["rows"]
        self.trend = list(state["trend"])


def main(run):
    rng = run.rng("pressure")
    series = run.track("series", Series())
    for hour in run.ticks(10):
        frames = {name: read_station(name, rng, hour) for name in STATIONS}
        wanted = set(STATIONS) if hour >= 3 else {"moor"}
        series.extend(merge(frames, wanted))
    return series.mean
