"""JSON that a stranger wrote, read within bounds.

What other programs embed may be cut, nested a million times, or hold numbers of a million digits. Keys
that come twice are refused: readers differ in which one they take.

Invariant: reading ends in time that grows with the text, and never with an error but ``JsonRefused``.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any, Final

from twice.foundation.printable import pluralize

BYTES_MAX: Final = 64 << 20
DEPTH_MAX: Final = 64
_DIGITS_MAX = 40
_BRACKET_OR_STRING = re.compile(r'[\[\]{}]|"(?:[^"\\]|\\.)*+"?', re.DOTALL)


class JsonRefused(ValueError):
    """A text is not JSON within the bounds; the message says why and where."""


def parsed(text: str, *, depth_max: int = DEPTH_MAX) -> Any:
    """Read one JSON document.

    Raises:
        JsonRefused: it is cut, too deep, too long, says a key twice, or holds no finite number.
    """
    if len(text) > BYTES_MAX:
        raise JsonRefused(f"it is longer than {BYTES_MAX} characters")
    _hold_depth(text, depth_max)
    try:
        return json.loads(
            text,
            object_pairs_hook=_once,
            parse_int=_whole,
            parse_float=_finite,
            parse_constant=_no_value,
        )
    except json.JSONDecodeError as error:
        raise JsonRefused(f"{error.msg} at character {error.pos}") from None


def _hold_depth(text: str, most: int) -> None:
    depth = 0
    for match in _BRACKET_OR_STRING.finditer(text):
        first = match[0][0]
        if first in "[{":
            depth += 1
            if depth > most:
                raise JsonRefused(f"it is nested deeper than {most} at character {match.start()}")
        elif first in "]}":
            depth -= 1


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found and found[key] != value:
            raise JsonRefused(f"the key {key[:60]!r} stands twice, with two values")
        found[key] = value
    return found


def _whole(digits: str) -> int:
    if len(digits) > _DIGITS_MAX:
        raise JsonRefused(
            f"a number has {pluralize(len(digits), 'digit')}; at most {_DIGITS_MAX} are read"
        )
    return int(digits)


def _finite(digits: str) -> float:
    value = float(digits) if len(digits) <= 4 * _DIGITS_MAX else math.inf
    if not math.isfinite(value):
        raise JsonRefused(f"the number {digits[:_DIGITS_MAX]} is beyond what can be kept")
    return value


def _no_value(_: str) -> None:
    """NaN and Infinity say nothing; ComfyUI writes them beside its inputs."""
