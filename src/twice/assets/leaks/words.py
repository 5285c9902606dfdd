"""Where any of many words stand in a text, found in one pass.

Words are looked for by their first four bytes: every four bytes of the text are looked up in one table, and the few
places that are in it are compared in full. Words of fewer bytes, and short texts, are searched one by one.

Invariant: the places are those that a search for each word alone would give, in their order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

import numpy as np
from numpy.typing import NDArray

_GRAM: Final = 4
_SHORT: Final = 1 << 10  # bytes of a text below which one search for each word costs less
_BITS: Final = 16
_SPREAD: Final = np.uint32(2654435761)


class Words:
    """Words that are looked for together.

    Args:
        words: each at least one byte.
    """

    def __init__(self, words: Iterable[bytes]) -> None:
        self._words = tuple(dict.fromkeys(words))
        self._few = tuple(each for each in self._words if len(each) < _GRAM)
        self._by_gram: dict[int, list[bytes]] = {}
        for each in self._words:
            if len(each) >= _GRAM:
                gram = int.from_bytes(each[:_GRAM], "little")
                self._by_gram.setdefault(gram, []).append(each)
        self._grams = np.array(sorted(self._by_gram), dtype="<u4")
        self._table = np.zeros(1 << _BITS, dtype=bool)
        self._table[self._slots(self._grams)] = True

    def places(self, data: bytes) -> dict[bytes, list[int]]:
        """Where each word that is there stands.

        Args:
            data: the text, in the case of the words.
        """
        found: dict[bytes, list[int]] = {}
        is_short = len(data) < _SHORT
        for word in self._words if is_short else self._few:
            places = list(_every(data, word))
            if places:
                found[word] = places
        if not is_short:
            for place, gram in self._candidates(data):
                for word in self._by_gram[gram]:
                    if data.startswith(word, place):
                        found.setdefault(word, []).append(place)
        return found

    def _candidates(self, data: bytes) -> Iterator[tuple[int, int]]:
        """Places and the four bytes there, where these begin a word."""
        places: list[NDArray[np.int64]] = []
        grams: list[NDArray[np.uint32]] = []
        for shift in range(_GRAM):
            count = (len(data) - shift) // _GRAM
            every = np.frombuffer(data, dtype="<u4", count=count, offset=shift)
            likely = np.flatnonzero(self._table[self._slots(every)])
            certain = likely[np.isin(every[likely], self._grams)]
            places.append(certain * _GRAM + shift)
            grams.append(every[certain])
        at = np.concatenate(places)
        order = np.argsort(at, kind="stable")
        yield from zip(at[order].tolist(), np.concatenate(grams)[order].tolist(), strict=True)

    @staticmethod
    def _slots(grams: NDArray[np.uint32]) -> NDArray[np.uint32]:
        return (grams * _SPREAD) >> np.uint32(32 - _BITS)


def _every(data: bytes, word: bytes) -> Iterator[int]:
    at = data.find(word)
    while at >= 0:
        yield at
        at = data.find(word, at + 1)
