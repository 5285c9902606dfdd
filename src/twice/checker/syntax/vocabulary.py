"""Which words stand in a text: rules ask every file for some dozens before they look at it.

Words are looked for in the text's own words, each taken once: a fifth of the text.

Invariant: ``has`` says what ``word in text`` would say.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property, lru_cache
from typing import Final

# Letters, digits and whatever is not ASCII stay; everything between words becomes a blank.
_WORDS_ALONE: Final = bytes(
    each if each >= 0x80 or chr(each).isalnum() or each == ord("_") else ord(" ")
    for each in range(256)
)


class Vocabulary:
    """The words of a text."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._known: dict[str, bool] = {}

    @cached_property
    def words(self) -> str:
        """Each word of the text once, between blanks."""
        data = self._text.encode("utf-8", "surrogatepass").translate(_WORDS_ALONE)
        every = b" ".join([b"", *dict.fromkeys(data.split()), b""])
        return every.decode("utf-8", "surrogatepass")

    def has(self, words: Iterable[str]) -> bool:
        """Say whether one of some words, or texts with signs between words, stands in the text.

        A word may stand in the middle of another.
        """
        answers = self._known
        for word in words:
            known = answers.get(word)
            if known is None:
                known = answers[word] = self._has(word)
            if known:
                return True
        return False

    def _has(self, word: str) -> bool:
        parts = _parts(word)
        if len(parts) == 1:
            return parts[0] in self.words and (parts[0] == word or word in self._text)
        return all(map(self.words.__contains__, parts)) and word in self._text

    def begins(self, start: str) -> bool:
        """Say whether a word that a sign follows begins somewhere: ``set(``, but not that of ``reset(``."""
        text = self._text
        if text.isascii() and f" {start[:-1]} " not in self.words:
            return False
        at = text.find(start)
        while at > 0 and (text[at - 1].isalnum() or text[at - 1] == "_"):
            at = text.find(start, at + 1)
        return at >= 0


@lru_cache(maxsize=1024)
def _parts(text: str) -> tuple[str, ...]:
    """Split a text into its words, without the signs between them."""
    data = text.encode("utf-8", "surrogatepass").translate(_WORDS_ALONE)
    return tuple(data.decode("utf-8", "surrogatepass").split())
