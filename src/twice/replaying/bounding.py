"""Serves a record to a verification, each read within the compare-point that it was made before.

One clock call more would be served the value of the next one, and be noticed ticks later, if at all. So a read that
the record does not have before the next compare-point is refused at that call. Which of several equal calls is the
one too many, the lines tell that made as many reads earlier in this execution.

Not for: reads of other actors than the main program, whose order against compare-points is a schedule's.

Invariant: an execution that asks what was recorded is served as by the plain source.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any

from twice.errors import EffectMismatch
from twice.recording.effects.answers import Live
from twice.recording.effects.ops import Op
from twice.recording.effects.sources import RecordedSource, describe
from twice.recording.runrecord import RunRecord
from twice.recording.sealing.places import user_line
from twice.recording.session import Session

_NEVER = sys.maxsize


class BoundedSource(RecordedSource):
    """The reads of a record, for one verification.

    Args:
        record: what is served.
        differs: told of a mismatch before it is raised.

    Attributes:
        session: what is executed, once there is one.
        extra_at: line of the read that is one too many, or empty.
    """

    def __init__(self, record: RunRecord, differs: Callable[[EffectMismatch], None]) -> None:
        super().__init__(record, differs)
        self.session: Session | None = None
        self.extra_at = ""
        self._record = record
        self._bounds = _bounds(record)
        self._next: tuple[int, int] | None = next(self._bounds, None)
        self._until = self._point = -1
        self._began = self._bound = 0
        self._compared = _comparing_effects(record)
        self._lines: list[str] = []
        self._known: dict[int, list[str]] = {}

    def strict(self, op: Op, arguments: object, live: Live) -> Any:
        """Serve a read, unless the record holds no more before the next compare-point."""
        if self.session is not None and not self.session.muted:
            self._enter(self.session.point_count)
            self._lines.append(user_line())
            if self.position() >= self._bound:
                self.extra_at = self._odd_one()
                raise self._mismatch(None, op, arguments)
        return super().strict(op, arguments, live)

    def left(self, point: int) -> str:
        """The first read that the record holds before a compare-point and that was not made; or empty."""
        self._enter(point)
        if self.position() >= self._bound:
            return ""
        event = next(self._record.strict_reads(self.position()), None)
        return "" if event is None else describe(*event)

    def _enter(self, point: int) -> None:
        """Reads from here on are made before this compare-point, or the next one that compares effects."""
        if point <= self._until or point == self._point:
            return
        if self.position() == self._bound:
            self._known[len(self._lines)] = self._lines
        self._lines, self._began, self._point = [], self.position(), point
        self._until = next((at for at in self._compared if at >= point), _NEVER)
        while self._next is not None and self._next[0] <= self._until:
            self._bound = self._next[1]
            self._next = next(self._bounds, None)

    def _odd_one(self) -> str:
        """The line among those of this compare-point that the reads before it do not know."""
        known = self._known.get(self._bound - self._began, ())
        for line, was in zip(self._lines, known, strict=False):
            if line != was:
                return line
        return self._lines[-1]


def _comparing_effects(record: RunRecord) -> Iterator[int]:
    """Compare-points before which the reads so far are written down and compared."""
    for index, (_, shape, _) in enumerate(record.reader.points.rows(0)):
        if "effects" in shape.components:
            yield index


def _bounds(record: RunRecord) -> Iterator[tuple[int, int]]:
    """Compare-points with reads before them, and how many reads there are by then."""
    point, count = -1, 0
    for at, number in record.strict_counts():
        if at != point and point >= 0:
            yield point, count
        point, count = at, count + number
    if point >= 0:
        yield point, count
