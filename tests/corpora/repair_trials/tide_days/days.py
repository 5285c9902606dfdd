"""From single readings to days."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime
from itertools import groupby

from readings import Reading

SHORTEST = 3
"""Days with fewer readings say nothing about low and high water."""


@dataclass(frozen=True)
class Day:
    """The levels of one station on one day."""

    station: str
    date: date
    count: int
    low: float
    high: float
    is_short: bool


def day_of(reading: Reading) -> date:
    """Return the calendar day of a reading."""
    return datetime.fromtimestamp(reading.stamp).date()


def summarize_days(readings: list[Reading]) -> list[Day]:
    """Return one row for each station and day, by day."""
    rows = list(_summaries(readings))
    return sorted(rows, key=lambda day: (day.date, day.station))


def _summaries(readings: list[Reading]) -> Iterator[Day]:
    for (station, day), group in groupby(readings, lambda row: (row.station, day_of(row))):
        levels = [row.level for row in group]
        yield Day(
            station, day, len(levels), min(levels), max(levels), len(levels) < SHORTEST
        )
