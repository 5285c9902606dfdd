"""Sales of a webshop by day, with pandas; stamps are in seconds, and days are days of UTC."""

import datetime as dt
import os
import random
import time

import pandas as pd

START = 1_711_800_000  # the weekend on which the clocks go forward
CHANNELS = ("web", "app", "phone", "shop")


class Source:
    """Rows of sales, a few an hour."""

    def __init__(self, seed):
        self.rng = random.Random(seed)

    def rows(self, hours):
        for hour in range(hours):
            for _ in range(self.rng.randrange(1, 4)):
                yield START + hour * 3600 + self.rng.randrange(3600), self.rng.choice(CHANNELS), self.rng.randrange(5, 90)


def zone():
    """For the log of the job; not part of the report."""
    return time.tzname[0], os.environ.get("TZ")  # innocent


def day_of(stamp):
    return dt.datetime.fromtimestamp(stamp, tz=dt.timezone.utc).date()  # innocent


class Report:
    def __init__(self, rows):
        self.frame = pd.DataFrame(rows, columns=["stamp", "channel", "amount"])
        self.frame["when"] = pd.to_datetime(self.frame["stamp"], unit="s", utc=True)  # innocent

    def by_day(self):
        return self.frame.groupby(self.frame["when"].dt.date)["amount"].sum()

    def by_channel(self):
        wanted = set(CHANNELS) - {"shop"}
        chosen = self.frame[self.frame["channel"].isin(wanted)]
        return chosen.groupby("channel")["amount"].agg(["sum", "count"]).sort_index()  # innocent


def check(report):
    """pandas and datetime must agree on what a day is."""
    days = {day_of(int(stamp)) for stamp in report.frame["stamp"]}
    return sorted(days) == sorted(report.by_day().index)


def main():
    names = zone()
    report = Report(list(Source(23).rows(96)))
    print("rows", len(report.frame), "zone known", bool(names))
    for day, amount in report.by_day().items():
        print(day.isoformat(), int(amount))
    for channel, row in report.by_channel().iterrows():
        print(f"{channel}: {int(row['sum'])} in {int(row['count'])} sales")
    forecast = random.Random(24)
    print("days agree", check(report), f"forecast {forecast.gauss(1000, 50):.2f}")


if __name__ == "__main__":
    main()
