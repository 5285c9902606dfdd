"""Text and JSON leaves as typed values, within the bounds that a log has.

Invariant: what is no value (empty, "unknown", -1 as a seed, infinite) becomes ``None``, never a number.
"""

from __future__ import annotations

import math
import re
from typing import Final

from twice.assets.log.kinds import says_nothing

SEED_MAX: Final = 2**64 - 1
FULL_SHA256: Final = re.compile(r"[0-9a-f]{64}")
_WHOLE = re.compile(r"[+-]?[0-9]{1,20}")
_NUMBER = re.compile(
    r"[+-]?(?:[0-9]{1,40}(?:\.[0-9]{0,40})?|\.[0-9]{1,40})(?:[eE][+-]?[0-9]{1,3})?"
)
_SIZE = re.compile(r"([0-9]{1,9})\s*[xX]\s*([0-9]{1,9})")
_ASPECT = re.compile(r"[1-9][0-9]{0,8}:[1-9][0-9]{0,8}")
_COUNT_MAX = 10**9
_EXACT_MAX = 2**53 - 1


def whole(value: object) -> int | None:
    """Give a whole number of at most 20 digits; a float only where it is one exactly."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value if abs(value) < 10**20 else None
    if isinstance(value, float):
        return int(value) if value.is_integer() and abs(value) <= _EXACT_MAX else None
    if isinstance(value, str) and _WHOLE.fullmatch(value.strip()):
        return int(value)
    return None


def count(value: object) -> int | None:
    """Give a number of steps or pixels, from 1 to a thousand million."""
    found = whole(value)
    return found if found is not None and 1 <= found <= _COUNT_MAX else None


def number(value: object) -> int | float | None:
    """Give a finite number that JSON keeps; one written as whole stays whole."""
    found = None if isinstance(value, float) else whole(value)
    if found is not None:
        return found if abs(found) <= _EXACT_MAX else None
    if isinstance(value, str) and _NUMBER.fullmatch(value.strip()):
        value = float(value)
    if isinstance(value, float) and math.isfinite(value) and abs(value) <= _EXACT_MAX:
        return value
    return None


def guidance(value: object) -> int | float | None:
    """Give a guidance scale, from 0 to a million."""
    found = number(value)
    return found if found is not None and 0 <= found <= 10**6 else None


def share(value: object) -> int | float | None:
    """Give a strength from 0 to 1."""
    found = number(value)
    return found if found is not None and 0 <= found <= 1 else None


def weight(value: object) -> int | float | None:
    """Give an adapter's weight, from -1000 to 1000."""
    found = number(value)
    return found if found is not None and abs(found) <= 1000 else None


def seed(value: object) -> str | None:
    """Give a seed as decimal digits; ``None`` for -1, words, fractions and more than 64 bits."""
    if isinstance(value, float):
        return None  # A seed that went through a float may have lost its last digits.
    found = whole(value)
    return str(found) if found is not None and 0 <= found <= SEED_MAX else None


def text(value: object) -> str | None:
    """Give a text; ``None`` for what only says that nothing is known."""
    return value if isinstance(value, str) and not says_nothing(value) else None


def size(value: object) -> tuple[int, int] | None:
    """Give width and height from ``512x768``."""
    match = _SIZE.fullmatch(value.strip()) if isinstance(value, str) else None
    if match is None:
        return None
    width, height = count(match[1]), count(match[2])
    return (width, height) if width and height else None


def aspect(value: object) -> str | None:
    """Give an aspect ratio such as ``16:9``."""
    return value if isinstance(value, str) and _ASPECT.fullmatch(value) else None
