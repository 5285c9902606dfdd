"""Numbers that look random and are a function of a seed and a place: no state, no order.

SplitMix64: the output for a counter is a fixed mixing of ``seed + counter * golden ratio``. Every
number can be asked for alone, so the first ten of a hundred points are the ten of ten.

Invariant: integers modulo 2**64 and exact products alone; the bits are the same on every machine.

Source: Steele, Lea, Flood: Fast splittable pseudorandom number generators, OOPSLA 2014, section 5.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from twice.tools.scenes.values import Array

_GOLDEN: Final = np.uint64(0x9E3779B97F4A7C15)


def words(seed: int, counters: Array) -> Array:
    """One 64-bit word per counter.

    Args:
        seed: any integer; its lowest 64 bits count.
        counters: unsigned 64-bit integers.
    """
    z = np.uint64(seed % 2**64) + (counters.astype(np.uint64) + np.uint64(1)) * _GOLDEN
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed: Array = z ^ (z >> np.uint64(31))
    return mixed


def units(seed: int, counters: Array) -> Array:
    """One float64 in [0, 1) per counter: the upper 53 bits of its word."""
    small: Array = (words(seed, counters) >> np.uint64(11)).astype(np.float64) * 2.0**-53
    return small
