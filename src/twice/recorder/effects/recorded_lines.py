"""The events of a record, line by line: decoded where they are asked for, a frame at a time.

A line is what one actor read, what one connection carried, or what libraries read of one operation on one
actor's threads. Only the places of its frames are held: a record may be larger than memory. Answers without an
order are held whole.

Invariant: a line gives the events of the record in their order, from any thread.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any, overload

from twice.foundation.encoding import encode
from twice.recorder.effects.events import Event, read_numbers, unpack

Payload = Callable[[int], bytes]
"""Returns the bytes of the frame at a place."""


class RecordedLine(Sequence[Event]):
    """The events of one line, of one operation by its number; 0 for all."""

    def __init__(self, payload: Payload, op: int = 0) -> None:
        self._payload, self._op = payload, op
        self._places, self._ends = array("Q"), array("Q")
        # The last frame and its events: one attribute, because threads may read at once.
        self._decoded: tuple[int, Sequence[Event]] = (-1, ())

    def append(self, place: int, count: int) -> None:
        """Add a frame that holds so many of its events."""
        self._places.append(place)
        self._ends.append(len(self) + count)

    def __len__(self) -> int:
        return self._ends[-1] if self._ends else 0

    @overload
    def __getitem__(self, at: int) -> Event: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[Event]: ...
    def __getitem__(self, at: int | slice) -> Event | Sequence[Event]:
        if isinstance(at, slice):
            return [self[each] for each in range(*at.indices(len(self)))]
        if at < 0:
            at += len(self)
        if not 0 <= at < len(self):
            raise IndexError(at)
        frame = bisect_right(self._ends, at)
        return self._decode(frame)[at - (self._ends[frame - 1] if frame else 0)]

    def __iter__(self) -> Iterator[Event]:
        for frame in range(len(self._places)):
            yield from self._decode(frame)

    def _decode(self, frame: int) -> Sequence[Event]:
        decoded, events = self._decoded
        if decoded != frame:
            events = unpack(self._payload(self._places[frame]))
            if self._op:
                events = [event for event in events if event[0] == self._op]
            self._decoded = frame, events
        return events


def gather_lines(
    frames: Iterator[tuple[str, int, bytes]], payload: Payload
) -> dict[str, RecordedLine]:
    """Return the lines of located frames by the keys of their actors, in the order of their first events."""
    lines: dict[str, RecordedLine] = {}
    for key, place, data in frames:
        if key not in lines:
            lines[key] = RecordedLine(payload)
        lines[key].append(place, len(read_numbers(data)))
    return lines


class Facts:
    """The recorded answers of one operation whose order among others means nothing, by arguments.

    Several actors, and libraries on threads of their own, ask in an order that timing decides. So each question
    is answered by its arguments: the first answer to the first such question, the second to the second, and the
    last one from then on. ``recorded`` has ``(arguments, answer)`` in the order of the record.
    """

    def __init__(self, recorded: Sequence[Any]) -> None:
        self._answers: dict[bytes, list[object]] = {}
        self._order: list[bytes] = []
        for arguments, answer in recorded:
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
        self._given = dict(Counter(self._order[:count]))
