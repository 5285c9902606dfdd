"""The table of inflows, and the text of a forecast."""

import csv
import math
from collections.abc import Iterator
from pathlib import Path

from settings import Settings

LEVELS = {"dry": 0.1, "median": 0.5, "wet": 0.9}


def read_inflows(path: Path) -> list[float]:
    """Return the inflow of each day in the record, by date."""
    with path.open(newline="", encoding="ascii") as file:
        days = {row["date"]: float(row["inflow_hm3"]) for row in csv.DictReader(file)}
    return [days[date] for date in sorted(set(days))]


def format_summary(storages: list[float], settings: Settings) -> Iterator[str]:
    """Yield the lines of a forecast."""
    ranked = sorted(storages)
    yield f"forecast for day {settings.horizon}, seed {settings.seed}"
    yield f"mean   {math.fsum(storages) / len(storages):9.4f} hm3"
    for name, share in LEVELS.items():
        yield f"{name:6} {ranked[int(share * (len(ranked) - 1))]:9.4f} hm3"
    empty = sum(storage == 0.0 for storage in storages)
    yield f"empty in {empty} of {len(storages)} members"
