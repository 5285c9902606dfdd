"""Options of ``twice record`` that would leave a difference out which no two runs can agree on.

They are proposed, never applied: whether a line or a file may differ is the user's to say.

Invariant: a proposed pattern matches both lines, and a proposal is made for numbers alone.
"""

from __future__ import annotations

import re
import shlex
from typing import Final

from twice.replaying.checking import Failure

_NUMBER: Final = re.compile(r"\d+(?:[.,:]\d+)*(?:e[+-]?\d+)?")
_LINE: Final = re.compile(r"(?:standard error, )?line \d+: (.*)", re.DOTALL)
_AROUND: Final = 16
"""Characters of a line that a pattern quotes on each side of a number."""


def suggest_ignored_output(failure: Failure | None) -> str:
    """Return how to leave a volatile line of output out; empty where the lines differ in more than a number."""
    if failure is None or tuple(failure.columns) != ("output",):
        return ""
    recorded, replayed = _LINE.fullmatch(failure.recorded), _LINE.fullmatch(failure.replayed)
    if recorded is None or replayed is None:
        return ""
    pattern = find_pattern(recorded[1], replayed[1])
    if not pattern:
        return ""
    return (
        "if this line holds a time or a measurement that no run repeats, record with "
        f"--ignore-output {shlex.quote(pattern)}"
    )


def find_pattern(one: str, other: str) -> str:
    """Return a regular expression for two lines that differ in numbers alone; empty for any others."""
    if one == other or _NUMBER.sub("0", one) != _NUMBER.sub("0", other):
        return ""
    for first, second in zip(_NUMBER.finditer(one), _NUMBER.finditer(other), strict=True):
        if first[0] != second[0]:
            before = _quote(one[max(0, first.start() - _AROUND) : first.start()])
            after = _quote(one[first.end() : first.end() + _AROUND])
            pattern = f"{before}[0-9][0-9.,:e+-]*{after}"
            is_right = all(re.search(pattern, line) for line in (one, other))
            return pattern if is_right and (before or after) else ""
    return ""


def _quote(text: str) -> str:
    return _NUMBER.sub("[0-9.,:]+", re.sub(r"[\\^$.|?*+()\[\]{}]", r"\\\g<0>", text))
