"""Long runs of bytes of one class, found at the speed of a search for one word.

A regular expression looks at every byte. Here bytes are marked as in or out of the class by a table, and a search for
as many marks as a run must have leaps over what is too short.

Invariant: every run of the class that is long enough is given once, in its order and in its whole length.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

_IN: Final = b"x"
_OUT: Final = b" "


class Class:
    """A set of bytes of which runs are looked for.

    Args:
        members: the bytes.
        shortest: how many of them in a row count, at least 1.
    """

    __slots__ = ("_needle", "_table")

    def __init__(self, members: bytes, shortest: int) -> None:
        self._table = bytes(_IN[0] if each in members else _OUT[0] for each in range(256))
        self._needle = _IN * shortest

    def runs(self, data: bytes) -> Iterator[tuple[int, int]]:
        """Where runs begin and end."""
        marks = data.translate(self._table)
        start = marks.find(self._needle)
        while start >= 0:
            end = marks.find(_OUT, start + len(self._needle))
            end = len(marks) if end < 0 else end
            yield start, end
            start = marks.find(self._needle, end)
