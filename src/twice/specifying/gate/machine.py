"""What was seen of the machine: what a run used of a GPU, and how it came out in other surroundings.

Invariant: plain data, without a folder of this machine or a time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Gpu:
    """What a run used of a GPU, read back when it ended.

    Args:
        reached: drivers that were loaded, and libraries that say that they run there.
        driver: its version; "" where none is told.
        cards: their names, where a library tells them.
        switches: switches of libraries, and variables, by name.
    """

    reached: tuple[str, ...]
    driver: str
    cards: tuple[str, ...]
    switches: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Varied:
    """The trial, made again in other surroundings, one factor at a time.

    Args:
        factors: for each that was varied, what came of it: ``same``, ``differs``, ``failed``,
            ``unavailable`` or ``could-not-tell``, and why or where.
    """

    factors: Mapping[str, tuple[str, str]]
