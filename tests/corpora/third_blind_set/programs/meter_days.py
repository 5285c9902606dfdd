"""Smart-meter readings: gathered by day, cleaned, and billed with a tariff that knows peak days."""

from collections import defaultdict
from datetime import datetime, timezone

import numpy as np
import pandas as pd

START = 1_709_251_200
HOURS = 24 * 12
METERS = ["m-101", "m-102", "m-205"]


def readings(rng):
    for meter in METERS:
        level = rng.uniform(0.3, 0.9)
        for hour in range(HOURS):
            if rng.random() < 0.03:
                continue
            shape = 1 + 0.8 * np.sin((hour % 24 - 9) / 24 * 2 * np.pi)
            yield meter, START + 3600 * hour, round(float(level * shape * rng.gamma(6.0, 1 / 6)), 3)


class Days:
    """Readings by meter and day, in the order in which they came."""

    def __init__(self):
        self.boxes = defaultdict(list)
        self.last = 0

    def add(self, meter, stamp, value):
        day = datetime.fromtimestamp(stamp).date()
        self.boxes[meter, day.toordinal()].append(value)
        self.last = max(self.last, stamp)

    def gaps(self):
        return sum(24 - len(box) for box in self.boxes.values() if len(box) < 24)

    def complete(self, least):
        return {key: box for key, box in self.boxes.items() if len(box) >= least}


class Tariff:
    """The highest days of a meter cost more."""

    def __init__(self, base=0.31, peak=0.47, peaks=2):
        self.base, self.peak, self.peaks = base, peak, peaks

    def bill(self, days):
        highest = set(days.nlargest(self.peaks).index)
        return float(sum(v * (self.peak if d in highest else self.base) for d, v in days.items()))


def table(days):
    rows = [(meter, day, sum(box), max(box)) for (meter, day), box in days.complete(18).items()]
    frame = pd.DataFrame(rows, columns=["meter", "day", "kwh", "top"])
    return frame.sort_values(["meter", "day"], ignore_index=True)


def smooth(frame):
    out = frame.copy()
    out["trend"] = out.groupby("meter")["kwh"].transform(lambda s: s.rolling(3, min_periods=1).median())
    out["odd"] = (out["kwh"] - out["trend"]).abs() > 2.5
    return out


def main():
    days, raw = Days(), 0.0
    for meter, stamp, value in readings(np.random.default_rng(99)):
        days.add(meter, stamp, value)
        raw += value
    until = datetime.fromtimestamp(days.last, tz=timezone.utc)
    print(f"readings until {until:%Y-%m-%d %H:%M}Z, {raw:.3f} kWh")
    meters = {meter for meter, _ in days.boxes}
    print(f"{len(meters)} meters: {', '.join(sorted(meters))}")
    frame = smooth(table(days))
    tariff = Tariff()
    for meter, part in frame.groupby("meter"):
        daily = part.set_index("day")["kwh"]
        print(f"{meter}: bill {tariff.bill(daily):.2f}, odd days {int(part['odd'].sum())}, top {part['top'].max():.3f}")
    if datetime.now(timezone.utc).year < 2000:
        print("the clock of this machine is not set")


if __name__ == "__main__":
    main()
