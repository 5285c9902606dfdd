"""How far two numbers are apart, in five ways: one number at a time, and whole arrays.

Each ``*_array`` function is the fast twin of the scalar one above it; a law holds them together.
Everywhere NaN is at distance 0 from NaN and infinite from anything else, and an infinity is at
distance 0 from itself alone.

Invariant: a distance is 0 only for values that the measure calls the same.
"""

from __future__ import annotations

import math
import struct
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]

_FORMATS: Final = {2: ("<e", "<H"), 4: ("<f", "<I"), 8: ("<d", "<Q")}


def measure_exact(recorded: float, replayed: float, _width: int = 8) -> float:
    """Return 0 for the same value with the same sign of zero, else the difference, or infinity."""
    if math.isnan(recorded) or math.isnan(replayed):
        return 0.0 if math.isnan(recorded) and math.isnan(replayed) else math.inf
    if recorded == replayed:
        return 0.0 if math.copysign(1, recorded) == math.copysign(1, replayed) else math.inf
    return abs(replayed - recorded) or math.inf


def measure_absolute(recorded: float, replayed: float, _width: int = 8) -> float:
    """Return the difference."""
    if recorded == replayed or (math.isnan(recorded) and math.isnan(replayed)):
        return 0.0
    distance = abs(replayed - recorded)
    return math.inf if math.isnan(distance) else distance


def measure_relative(recorded: float, replayed: float, width: int = 8) -> float:
    """Return the difference in parts of the recorded value; infinite where that is 0."""
    distance = measure_absolute(recorded, replayed, width)
    if distance in {0.0, math.inf}:
        return distance
    return distance / abs(recorded) if recorded else math.inf


def count_ulps(recorded: float, replayed: float, width: int = 8) -> float:
    """Return the number of representable values between two floats of ``width`` bytes."""
    if not (math.isfinite(recorded) and math.isfinite(replayed)):
        return measure_absolute(recorded, replayed)
    return float(abs(_rank(recorded, width) - _rank(replayed, width)))


def count_quanta(recorded: float, replayed: float, step: float) -> float:
    """Return the difference in steps after each is rounded to a multiple, half to even."""
    first, last = recorded / step, replayed / step
    if not (math.isfinite(first) and math.isfinite(last)):
        return measure_absolute(recorded, replayed)
    return float(abs(round(first) - round(last)))


def measure_exact_array(recorded: Array, replayed: Array) -> Array:
    """Measure like ``measure_exact``, fast."""
    import numpy as np

    distance = measure_absolute_array(recorded, replayed)
    unlike = (recorded != replayed) | (np.signbit(recorded) != np.signbit(replayed))
    unlike &= ~(np.isnan(recorded) & np.isnan(replayed))
    return np.where(unlike & (distance == 0), np.inf, distance)


def measure_absolute_array(recorded: Array, replayed: Array) -> Array:
    """Measure like ``measure_absolute``, fast and in 64 bits."""
    import numpy as np

    first, last = recorded.astype(np.float64), replayed.astype(np.float64)
    same = (first == last) | (np.isnan(first) & np.isnan(last))
    with np.errstate(all="ignore"):
        distance = np.abs(last - first)
    return np.where(same, 0.0, np.where(np.isnan(distance), np.inf, distance))


def measure_relative_array(recorded: Array, replayed: Array) -> Array:
    """Measure like ``measure_relative``, fast and in 64 bits."""
    import numpy as np

    distance = measure_absolute_array(recorded, replayed)
    size = np.abs(recorded.astype(np.float64))
    with np.errstate(all="ignore"):
        parts = np.where(size == 0, np.inf, distance / size)
    return np.where((distance == 0) | np.isinf(distance), distance, parts)


def count_ulps_array(recorded: Array, replayed: Array) -> Array:
    """Count like ``count_ulps``, fast and in the precision of the arrays."""
    import numpy as np

    first, last = _ranks(recorded), _ranks(replayed)
    between = (np.maximum(first, last) - np.minimum(first, last)).astype(np.float64)
    finite = np.isfinite(recorded) & np.isfinite(replayed)
    return np.where(finite, between, measure_absolute_array(recorded, replayed))


def count_quanta_array(recorded: Array, replayed: Array, step: float) -> Array:
    """Count like ``count_quanta``, fast and in 64 bits."""
    import numpy as np

    with np.errstate(all="ignore"):
        first = recorded.astype(np.float64) / step
        last = replayed.astype(np.float64) / step
        between = np.abs(np.rint(first) - np.rint(last))
    finite = np.isfinite(first) & np.isfinite(last)
    return np.where(finite, between, measure_absolute_array(recorded, replayed))


def _rank(value: float, width: int) -> int:
    """Return the position of a float among the floats of a width; both zeros have position 0."""
    as_float, as_word = _FORMATS[width]
    word: int = struct.unpack(as_word, struct.pack(as_float, value))[0]
    sign = 1 << (8 * width - 1)
    return sign - word if word & sign else word


def _ranks(values: Array) -> Array:
    """Rank like ``_rank``, fast, and raised by half the range so that it fits an unsigned word."""
    import numpy as np

    width = values.dtype.itemsize
    words = np.ascontiguousarray(values, dtype=values.dtype.newbyteorder("=")).view(f"u{width}")
    words = words.astype(np.uint64)
    sign = np.uint64(1 << (8 * width - 1))
    return np.where(words & sign, sign - (words & ~sign), words + sign)
