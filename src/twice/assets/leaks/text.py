"""A stretch of text as it is searched: its readable runs, and the places of many words in one pass.

Invariant: a place is an offset in the data that were given, and the places of a word are in their order.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from itertools import accumulate
from typing import Final

import numpy as np
from ahocorasick_rs import BytesAhoCorasick, Implementation

_CONTROLS: Final = bytes(each < 32 and each not in b"\t\n\r\x0b\x0c\x1b" for each in range(256))
_READABLE_MIN: Final = 6  # bytes of a run among unreadable ones
_DFA_MAX: Final = 1 << 14  # bytes of words; the quickest automaton takes a kilobyte for each


def count_controls(data: bytes) -> int:
    """Return how many bytes there are that no text has."""
    return int(np.count_nonzero(np.frombuffer(data.translate(_CONTROLS), np.uint8)))


def mark_bytes(members: bytes) -> bytes:
    """Return the table that turns each member into ``x`` and every other byte into a blank."""
    return bytes(ord("x") if each in members else ord(" ") for each in range(256))


READABLE: Final = mark_bytes(bytes([*b"\t\n\r", *range(0x20, 0x7F)]))


def find_runs(data: bytes, table: bytes, shortest: int) -> Iterator[tuple[int, int]]:
    """Yield where runs of the members of a table begin and end.

    A regular expression looks at every byte; a search for as many marks as a run must have leaps over what is too short.
    """
    marks, needle = data.translate(table), b"x" * shortest
    start = marks.find(needle)
    while start >= 0:
        end = marks.find(b" ", start + shortest)
        end = len(marks) if end < 0 else end
        yield start, end
        start = marks.find(needle, end)


def merge_spans(spans: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Yield stretches in their order, joined where they meet, none before 0."""
    start = end = -1
    for first, last in sorted(spans):
        if start >= 0 and first > end:
            yield start, end
            start = -1
        start, end = max(first, 0) if start < 0 else start, max(last, end)
    if start >= 0:
        yield start, end


class Keywords:
    """Words that are looked for together.

    Args:
        words: each at least one byte.
    """

    def __init__(self, words: Iterable[bytes]) -> None:
        self._words = tuple(dict.fromkeys(words))
        is_small = sum(map(len, self._words)) <= _DFA_MAX
        form = Implementation.DFA if is_small else Implementation.ContiguousNFA
        self._automaton = BytesAhoCorasick(self._words, implementation=form)

    def find(self, data: bytes) -> dict[bytes, list[int]]:
        """Return the places of each word that is there, in the case in which it was given."""
        places: dict[bytes, list[int]] = {}
        for which, start, _ in self._automaton.find_matches_as_indexes(data, overlapping=True):
            places.setdefault(self._words[which], []).append(start)
        return places


class TextWindow:
    """A stretch of text, or the readable runs of a stretch of bytes.

    Args:
        raw: the stretch.

    Attributes:
        data: the text, runs apart by line ends.
        lowered: the same in lower case.
        controls: how many bytes of the stretch no text has.
    """

    def __init__(self, raw: bytes) -> None:
        self.raw, self.data = raw, raw
        self.controls = count_controls(raw)
        self._offsets: list[int] = []  # of runs in the stretch
        self._starts: list[int] = []  # of the same in the text
        if 50 * self.controls > len(raw):
            runs = list(find_runs(raw, READABLE, _READABLE_MIN))
            self.data = b"\n".join(raw[start:end] for start, end in runs)
            self._offsets = [start for start, _ in runs]
            self._starts = [*accumulate((end - start + 1 for start, end in runs), initial=0)]
        self.lowered = self.data.lower()

    def to_offset(self, at: int) -> int:
        """Return where a byte of ``data`` stands in the stretch."""
        if not self._offsets:
            return at
        run = bisect_right(self._starts, at) - 1
        return self._offsets[run] + at - self._starts[run]
