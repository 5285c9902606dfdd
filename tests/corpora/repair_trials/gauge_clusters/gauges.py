"""The table of gauges."""

import csv
from dataclasses import dataclass
from pathlib import Path

import numpy as np


@dataclass(frozen=True)
class Gauges:
    """Names of gauges and one row of features for each."""

    names: list[str]
    values: np.ndarray


def read_gauges(path: Path) -> Gauges:
    """Read the features of all gauges, in the order of their names."""
    with path.open(newline="", encoding="utf-8") as file:
        rows = {row.pop("gauge"): row for row in csv.DictReader(file)}
    names = sorted(set(rows))
    return Gauges(names, np.array([[float(x) for x in rows[name].values()] for name in names]))


def standardize(values: np.ndarray) -> np.ndarray:
    """Return the features with mean 0 and deviation 1."""
    return (values - values.mean(axis=0)) / values.std(axis=0)
