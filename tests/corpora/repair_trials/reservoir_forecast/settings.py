"""The settings of a forecast."""

import json
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Settings:
    """What a forecast is made with.

    Attributes:
        seed: of the ensemble.
        members: how many possible futures are drawn.
        horizon: days that each of them has.
        block: days of the record that are drawn together.
        start: storage on the first day, in million cubic metres.
        capacity: storage at which water is spilled.
        release: what is let out on a day.
    """

    seed: int
    members: int
    horizon: int
    block: int
    start: float
    capacity: float
    release: float


def read_settings(path: Path) -> Settings:
    """Read settings, and what they are based on."""
    document = json.loads(path.read_text(encoding="utf-8"))
    base = document.pop("based_on", None)
    if base is not None:
        document = json.loads((path.parent / base).read_text(encoding="utf-8")) | document
    return Settings(**document)
