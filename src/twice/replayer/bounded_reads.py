"""Serves a record to a verification, each read within the compare-point that it was made before.

An extra clock call would get the value of the next call, and the difference would show ticks later, or never. So a
read that the record does not have before the next compare-point is refused at that call. To find the extra call among
identical ones, twice compares the source lines with earlier intervals of this execution.

Not for: reads of other actors than the main program, whose order against compare-points is a schedule's.

Invariant: an execution that makes the recorded reads gets the same values as from the plain source.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from itertools import islice, takewhile

from twice.errors import EffectMismatch
from twice.recorder.audit.channels import user_line
from twice.recorder.effects.events import Event
from twice.recorder.effects.sources import RecordedSource, describe
from twice.recorder.runrecord import RunRecord
from twice.recorder.session import Session

_NEVER = sys.maxsize


class CheckpointBoundedReads(RecordedSource):
    """The reads of a record, for one verification.

    Args:
        record: the served record.
        differs: called with a mismatch before it is raised.
        lines_from: first compare-point whose reads keep their lines; None for none. A line costs more than
            a served read.

    Attributes:
        session: the executed session, once it exists.
        is_extra: whether a read was refused as extra.
        extra_at: its line, if lines were kept.
    """

    def __init__(
        self,
        record: RunRecord,
        differs: Callable[[EffectMismatch], None],
        *,
        lines_from: int | None = None,
    ) -> None:
        super().__init__(record, differs)
        self.session: Session | None = None
        self.is_extra, self.extra_at = False, ""
        self._lines_from = _NEVER if lines_from is None else lines_from
        self._record = record
        self._frames = record.strict_frames()
        self._events: Sequence[Event] = ()
        self._written_at = self._used = 0
        # Compare-points before which the reads so far are written down and compared.
        rows = enumerate(record.reader.points.rows(0))
        self._compared = (index for index, (_, shape, _) in rows if "effects" in shape.components)
        self._until = -1
        self._lines: list[str] = []
        self._known: dict[int, list[str]] = {}
        # Reads that keep their lines, or are given other values, are asked for one by one.
        self._looks_ahead = lines_from is None and type(self)._next is CheckpointBoundedReads._next

    def seek(self, position: int, lenient: Mapping[int, int] | None = None) -> None:
        """Continue after that many strict reads, and that many lenient ones of each operation."""
        super().seek(position, lenient)
        self.next_values.clear()
        self._frames = self._record.strict_frames(position)
        self._events, self._used = (), 0

    def find_unmade(self, point: int) -> str:
        """Describe the first recorded read before a compare-point that was not made; empty for none."""
        is_there = bool(self.next_values) or self._has_more()
        unmade = is_there and self._written_at <= point
        return describe(*self._events[self._used - len(self.next_values)]) if unmade else ""

    def _next(self) -> Event | None:
        if self.next_values:
            self._position -= 1  # counted again by whoever asks
            return self.next_number, self.next_values.pop()
        session = self.session
        if session is not None and session.muted:
            session = (
                None  # a run that is put back at a snapshot is muted, and takes no compare-points
            )
        if session is not None and session.point_count > self._until:
            # Reads from here on are made before this compare-point, or the next one that compares effects.
            point = session.point_count
            self._until = next((at for at in self._compared if at >= point), _NEVER)
            self._known[len(self._lines)] = self._lines
            self._lines = []
        if self._until >= self._lines_from:
            self._lines.append(user_line())
        if not self._has_more():
            return None
        if session is not None and self._written_at > self._until:
            self.is_extra, self.extra_at = True, self._find_extra_line()
            return None
        self._used += 1
        event = self._events[self._used - 1]
        if self._looks_ahead:
            self._look_ahead(event[0])
        return event

    def _look_ahead(self, number: int) -> None:
        """Take the reads of one operation that follow in this frame: they are made before the same compare-point."""
        first = self._used
        alike = takewhile(lambda event: event[0] == number, islice(self._events, first, None))
        values = [value for _, value in alike]
        self.next_number, self.next_values = number, values[::-1]
        self._used += len(values)
        self._position += len(values)

    def _has_more(self) -> bool:
        while self._used >= len(self._events):
            frame = next(self._frames, None)
            if frame is None:
                return False
            self._written_at, self._events = frame
            self._used = 0
        return True

    def _find_extra_line(self) -> str:
        """Return the line among those of this compare-point that as many reads before it do not know."""
        for line, was in zip(self._lines, self._known.get(len(self._lines) - 1, ()), strict=False):
            if line != was:
                return line
        return self._lines[-1] if self._lines else ""
