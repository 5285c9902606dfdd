"""Compare an execution with its record, point by point.

Columns that the class judges must be equal. Columns with a tolerance are compared by value with the record, never
with the previous point. Columns that the class does not judge are skipped. The first difference is passed to the
caller as a value.

Invariant: a point passes only after every judged column of it was compared.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import partial
from typing import Any

from twice.foundation.comparison import tolerance_from_json
from twice.foundation.determinism_class import Predicate
from twice.foundation.encoding import decode, loaded_types
from twice.recorder.compare_points import VALUE, ComparePoint, is_judged
from twice.recorder.components import SCHEDULE, STEPS
from twice.recorder.runrecord import RunRecord
from twice.recorder.session_parts import Sink
from twice.replayer.outcome import Failure, no_counts

_SHOWN_CHARACTERS_MAX = 200


class ComparingSink(Sink):
    """Compares each observation with the record and reports the first difference.

    Args:
        record: the record to compare with.
        predicate: the class that judges.
        differs: called at the first failure; it may stop the process.
        first: index of the first point that will be taken.
        find_unmade_read: gives the first recorded read before a point that was not made, or empty.
        passed_over: columns that are not compared, whatever the class.

    Attributes:
        counts: points that were evaluated, passed, failed, and passed ``within_tolerance``.
        next_index: index of the next point.
    """

    def __init__(
        self,
        record: RunRecord,
        predicate: Predicate,
        differs: Callable[[Failure], None],
        *,
        first: int = 0,
        find_unmade_read: Callable[[int], str] = lambda _: "",
        passed_over: Collection[str] = (),
    ) -> None:
        self._points = record.reader.points
        self._rows = self._points.rows(first)
        self._frames = iter(record.reader.frames(kinds=[VALUE], first_point=first))
        self._pending: Any = None
        self._differs, self._find_unmade_read = differs, find_unmade_read
        self._is_simulated = record.setup.order is not None
        self._values: dict[str, Any] = {}
        self._judged, self._passed_over = (
            partial(is_judged, predicate=predicate, tolerances={}),
            {*passed_over},
        )
        self.next_index = first
        self.counts = no_counts()

    def point(self, taken: ComparePoint) -> None:
        """Compare one point."""
        index, self.next_index = self.next_index, self.next_index + 1
        values, self._values = self._values, {}
        self.counts["evaluated"] += 1
        row = next(self._rows, None)
        if row is None:
            self._fail(index, taken, ["(point)"], "the end of the record", taken.name)
            return
        tick, shape, digests = row
        # One comparison of all digests at once: nearly every point of nearly every run ends here.
        if (
            digests == taken.digests
            and tick == taken.tick
            and shape.name == taken.name
            and shape.components == taken.columns
        ):
            self.counts["passed"] += 1
            return
        recorded = self._points.point(index)
        recorded_values = self._read_values(index) if values else {}
        if (recorded.name, recorded.tick) != (taken.name, taken.tick):
            was = f"{recorded.name} of tick {recorded.tick}"
            self._fail(index, taken, ["(order)"], was, f"{taken.name} of tick {taken.tick}")
            return
        ours = {name: taken.column(name) for name in taken.columns}
        is_explicit = (
            len(ours) == 1
        )  # a value that the program compares by name; every class judges it
        failed, is_tolerated = [], False
        for name in sorted({*recorded.digests, *ours}):
            if recorded.digests.get(name) == ours.get(name) or name in self._passed_over:
                continue
            if name in values and name in recorded_values:
                (recorded_within, was), (within, now) = recorded_values[name], values[name]
                # A program that states another tolerance than it did has differed already.
                if recorded_within == within and tolerance_from_json(within).same(was, now).same:
                    is_tolerated = True
                else:
                    failed.append(name)
            elif is_explicit or self._judged(name):
                failed.append(name)
        if failed:
            name = failed[0]
            was = _describe(recorded_values.get(name), recorded.digests.get(name))
            self._fail(index, taken, failed, was, _describe(values.get(name), ours.get(name)))
        else:
            self.counts["within_tolerance" if is_tolerated else "passed"] += 1

    def is_judged(self, column: str) -> bool:
        """Return whether differences of a column count."""
        return self._judged(column) and column not in self._passed_over

    def pass_over(self, column: str) -> None:
        """Compare a column no more."""
        self._passed_over.add(column)

    def value(self, column: str, payload: bytes, tick: int) -> None:
        """Remember a value with a tolerance until its point comes."""
        del tick
        fields: Any = decode(payload, resolve=loaded_types)
        name, within, value = fields
        assert name == column, "a value says which column it belongs to"
        self._values[column] = (within, value)

    def _read_values(self, index: int) -> dict[str, Any]:
        """Return column -> (tolerance, value) as recorded at a point; points are asked for in rising order."""
        found: dict[str, Any] = {}
        while True:
            frame, self._pending = self._pending or next(self._frames, None), None
            # Frames before the index belong to points that were equal by digest, and are passed over.
            if frame is None or frame.point > index:
                self._pending = frame
                return found
            if frame.point == index:
                fields: Any = decode(frame.payload, resolve=loaded_types)
                name, within, value = fields
                found[name] = (within, value)

    def _fail(
        self, index: int, taken: ComparePoint, columns: Sequence[str], recorded: str, replayed: str
    ) -> None:
        self.counts["failed"] += 1
        # Two digests of reads say nothing to a person; the first recorded read that was not made does.
        if columns[0] == "effects" and (unmade := self._find_unmade_read(index)):
            recorded, replayed = unmade, "nothing more before this compare-point"
        # A value that is compared by name may have that name too.
        if columns[0] == SCHEDULE and self._is_simulated and len(taken.columns) > 1:
            recorded, replayed = f"{STEPS}, as recorded", "a step more or less, or at another place"
        self._differs(Failure(index, taken.tick, taken.name, tuple(columns), recorded, replayed))


def _describe(value: Any, digest: bytes | None) -> str:
    if value is not None:
        text = repr(value[1])
        is_short = len(text) <= _SHOWN_CHARACTERS_MAX
        return text if is_short else f"{text[: _SHOWN_CHARACTERS_MAX - 3]}..."
    return "(absent)" if digest is None else digest.hex()
