"""Where any of many words stand in a text, found in one pass.

Words are looked for by four of their bytes, the rarest: every four bytes of the text are looked up in one table, and
the few places that are in it are compared in full. Words of fewer bytes, and short texts, are searched one by one.

Invariant: the places are those that a search for each word alone would give, in their order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

import numpy as np
from numpy.typing import NDArray

_GRAM: Final = 4
_SHORT: Final = 1 << 10  # bytes of a text below which one search for each word costs less
_SPREAD: Final = np.uint32(2654435761)  # Knuth's; the upper half of a product is its slot
_LETTERS: Final = b"zqjxkvbywgpfmucdlhrsnioate"  # the most frequent last; other bytes count as rare
_FREQUENT: Final = (  # in code and prose, more than their letters say
    b"able", b"comp", b"_nam", b" key", b"_typ", b"ampl", b"_val", b".com", b"rmin", b"num_", b"bili", b"max_", b"gram",
    b"prom", b"audi", b"ndom", b"deno", b"del ", b"ey_b", b"ck_v",
)  # fmt: skip


class Keywords:
    """Words that are looked for together.

    Args:
        words: each at least one byte.
    """

    def __init__(self, words: Iterable[bytes]) -> None:
        self._words = tuple(dict.fromkeys(words))
        self._few = tuple(each for each in self._words if len(each) < _GRAM)
        self._by_gram: dict[int, list[tuple[bytes, int]]] = {}
        for word in self._words:
            grams = [word[at : at + _GRAM] for at in range(len(word) - _GRAM + 1)]
            if grams:
                rarest = min(grams, key=_frequency)
                entry = (word, grams.index(rarest))
                self._by_gram.setdefault(int.from_bytes(rarest, "little"), []).append(entry)
        self._grams = np.array(sorted(self._by_gram), dtype="<u4")
        self._table = np.zeros(1 << 16, dtype=bool)
        self._table[_slots(self._grams)] = True

    def find(self, data: bytes) -> dict[bytes, list[int]]:
        """Return the places of each word that is there.

        Args:
            data: the text, in the case of the words.
        """
        places: dict[bytes, list[int]] = {}
        for word in self._words if len(data) < _SHORT else self._few:
            at = data.find(word)
            while at >= 0:
                places.setdefault(word, []).append(at)
                at = data.find(word, at + 1)
        if len(data) < _SHORT or not len(self._grams):
            return places
        for place, gram in sorted(self._candidates(data)):
            for word, at in self._by_gram[gram]:
                if place >= at and data.startswith(word, place - at):
                    places.setdefault(word, []).append(place - at)
        return places

    def _candidates(self, data: bytes) -> list[tuple[int, int]]:
        """Return the places of four bytes that some word has, with their number."""
        found: list[tuple[int, int]] = []
        for shift in range(_GRAM):
            every = np.frombuffer(data, "<u4", (len(data) - shift) // _GRAM, shift)
            likely = np.flatnonzero(self._table.take(_slots(every)))
            sure = likely[np.isin(every[likely], self._grams)]
            found += zip((sure * _GRAM + shift).tolist(), every[sure].tolist(), strict=True)
        return found


def _frequency(gram: bytes) -> tuple[bool, int]:
    return gram in _FREQUENT, sum(map(_LETTERS.find, gram))


def _slots(grams: NDArray[np.uint32]) -> NDArray[np.uint32]:
    return (grams * _SPREAD) >> np.uint32(16)


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
