"""The logger's file: one reading a line."""

import csv
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Reading:
    """A water level.

    Attributes:
        station: where it was measured.
        stamp: when, in seconds since 1970.
        level: metres above chart datum.
    """

    station: str
    stamp: int
    level: float


def read_levels(path: Path) -> list[Reading]:
    """Read all valid levels, station by station and then by time."""
    with path.open(newline="", encoding="ascii") as file:
        rows = [
            Reading(row["station"], int(row["stamp"]), float(row["level_m"]))
            for row in csv.DictReader(file)
            if row["quality"] != "bad"
        ]
    return sorted(set_of_latest(rows), key=lambda row: (row.station, row.stamp))


def set_of_latest(rows: list[Reading]) -> set[Reading]:
    """Keep the later line where the logger sent a reading twice."""
    return set({(row.station, row.stamp): row for row in rows}.values())
