"""Questions whose order among others means nothing: what a name resolves to, what a file held.

Several actors, and libraries on threads of their own, ask them in an order that timing decides. So each is
answered by what it asks with: the first answer to the first such question, the second to the second,
and the last one from then on.

Invariant: an answer is given only to the arguments that it was recorded for.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from twice.foundation.encoding import encode


class Facts:
    """The recorded answers of one operation, by arguments.

    Args:
        recorded: ``(arguments, answer)`` in the order of the record.
    """

    def __init__(self, recorded: Sequence[object]) -> None:
        self._answers: dict[bytes, list[object]] = {}
        self._order: list[bytes] = []
        for entry in recorded:
            arguments, answer = _pair(entry)
            key = encode(arguments)
            self._order.append(key)
            self._answers.setdefault(key, []).append(answer)
        self._given: dict[bytes, int] = {}

    def answer(self, arguments: object, *, again: bool = True) -> tuple[bool, object]:
        """Return whether an answer is known, and the next one; the last one may repeat."""
        key = encode(arguments)
        answers = self._answers.get(key)
        at = self._given.get(key, 0)
        if answers is None or (at >= len(answers) and not again):
            return False, None
        self._given[key] = at + 1
        return True, answers[min(at, len(answers) - 1)]

    def first(self, arguments: object) -> tuple[bool, object]:
        """Return whether an answer is known, and the first one, without serving it."""
        answers = self._answers.get(encode(arguments))
        return (True, answers[0]) if answers else (False, None)

    def seek(self, count: int) -> None:
        """Continue after that many questions of the record."""
        self._given = {}
        for key in self._order[:count]:
            self._given[key] = self._given.get(key, 0) + 1


def _pair(entry: Any) -> tuple[object, object]:
    arguments, answer = entry
    return arguments, answer
