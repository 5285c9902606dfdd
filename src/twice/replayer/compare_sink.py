"""Hold an execution against its record, point by point.

Columns that a class judges must be equal; columns with a tolerance are compared by value against
the record (never chained from point to point); columns that a class does not judge are passed over.
The first difference is a value, handed to whoever asked.

Invariant: a point passes only after every judged column of it was compared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from twice.foundation.classes import Predicate
from twice.foundation.comparison import tolerance_from_json
from twice.foundation.encoding import decode, loaded_types
from twice.recording.comparepoints import Taken
from twice.recording.judging import judged_by
from twice.recording.runrecord import RunRecord
from twice.recording.sink import VALUE, Sink
from twice.replayer.outcome import Failure


class ComparingSink(Sink):
    """Compares every observation with the record; tells the first difference.

    Args:
        record: what is compared with.
        predicate: the class that judges.
        differs: called at the first failure; it may stop the process.
        first: index of the first point that will be taken.
        left: the first recorded read before a point that was not made, or empty.
    """

    def __init__(
        self,
        record: RunRecord,
        predicate: Predicate,
        differs: Callable[[Failure], None],
        *,
        first: int = 0,
        left: Callable[[int], str] = lambda _: "",
    ) -> None:
        self._points = record.reader.points
        self._left = left
        self._rows = self._points.rows(first)
        self._recorded_values = _RecordedValues(record, first)
        self._differs = differs
        self._values: dict[str, Any] = {}
        self._judged = judged_by(predicate, dict)
        self.next_index = first
        self.evaluated = self.passed = self.within = self.failed = 0

    def point(self, taken: Taken) -> None:
        """Compare one point."""
        index, self.next_index = self.next_index, self.next_index + 1
        values, self._values = self._values, {}
        self.evaluated += 1
        row = next(self._rows, None)
        if row is None:
            self._fail(index, taken, ("(point)",), "the end of the record", taken.name)
            return
        tick, shape, digests = row
        # One comparison of all digests at once: nearly every point of nearly every run ends here.
        if (
            digests == taken.digests
            and tick == taken.tick
            and shape.name == taken.name
            and shape.components == taken.columns
        ):
            self.passed += 1
            return
        recorded = self._points.point(index)
        recorded_values = self._recorded_values.at(index) if values else {}
        if (recorded.name, recorded.tick) != (taken.name, taken.tick):
            was = f"{recorded.name} of tick {recorded.tick}"
            self._fail(index, taken, ("(order)",), was, f"{taken.name} of tick {taken.tick}")
            return
        ours = dict(_columns(taken))
        unequal = [
            name
            for name in sorted({*recorded.digests, *ours})
            if recorded.digests.get(name) != ours.get(name)
        ]
        if not unequal:
            self.passed += 1
            return
        self._settle(index, taken, recorded.digests, ours, unequal, values, recorded_values)

    def _settle(
        self,
        index: int,
        taken: Taken,
        recorded: Mapping[str, bytes],
        ours: Mapping[str, bytes],
        unequal: list[str],
        values: Mapping[str, Any],
        recorded_values: Mapping[str, Any],
    ) -> None:
        explicit = (
            len(ours) == 1
        )  # a value that the program compares by name; every class judges it
        failed, tolerated = [], False
        for name in unequal:
            if name in values and name in recorded_values:
                # A program that states another tolerance than it did has differed already.
                (recorded_within, recorded_value), (within, value) = (
                    recorded_values[name],
                    values[name],
                )
                same = recorded_within == within
                if same and tolerance_from_json(within).same(recorded_value, value).same:
                    tolerated = True
                else:
                    failed.append(name)
            elif explicit or self._judged(name):
                failed.append(name)
        if failed:
            name = failed[0]
            was = _text(recorded_values.get(name), recorded.get(name))
            self._fail(index, taken, tuple(failed), was, _text(values.get(name), ours.get(name)))
        elif tolerated:
            self.within += 1
        else:
            self.passed += 1

    def _fail(
        self, index: int, taken: Taken, columns: tuple[str, ...], recorded: str, replayed: str
    ) -> None:
        self.failed += 1
        # Two digests of reads say nothing to a person; the first recorded read that was not made does.
        if columns[0] == "effects" and (left := self._left(index)):
            recorded, replayed = left, "nothing more before this compare-point"
        self._differs(Failure(index, taken.tick, taken.name, columns, recorded, replayed))

    def value(self, column: str, payload: bytes, tick: int) -> None:
        """Remember a value with a tolerance until its point comes."""
        del tick
        fields: Any = decode(payload, resolve=loaded_types)
        name, within, value = fields
        assert name == column, "a value says which column it belongs to"
        self._values[column] = (within, value)


class _RecordedValues:
    """Recorded values with a tolerance, by point, read once and in order."""

    def __init__(self, record: RunRecord, first: int) -> None:
        self._frames: Iterator[Any] = iter(record.reader.frames(kinds=[VALUE], first_point=first))
        self._next: Any = None

    def at(self, index: int) -> dict[str, Any]:
        """Column -> (tolerance, value) of one point; points are asked for in rising order."""
        found: dict[str, Any] = {}
        while True:
            frame = self._next if self._next is not None else next(self._frames, None)
            self._next = None
            # Frames before the index belong to points that were equal by digest, and are passed over.
            if frame is None or frame.point > index:
                self._next = frame
                return found
            if frame.point == index:
                fields: Any = decode(frame.payload, resolve=loaded_types)
                name, within, value = fields
                found[name] = (within, value)


def _columns(taken: Taken) -> Iterator[tuple[str, bytes]]:
    for at, name in enumerate(taken.columns):
        yield name, taken.digests[at * 16 : at * 16 + 16]


def _text(value: Any, digest: bytes | None) -> str:
    if value is not None:
        text = repr(value[1])
        return text if len(text) <= 200 else text[:197] + "..."
    return "(absent)" if digest is None else digest.hex()
