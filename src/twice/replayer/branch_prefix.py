"""Copy the beginning of a record into another: the common prefix of a branch and its parent.

Points, journal frames and snapshots are written again in their order. The chain of points is then the same, which
proves that the prefix is identical. The prefix ends at a snapshot between two points. Frames of that interval are
copied only if they precede the snapshot.

While the branch runs up to the fork, its execution is compared with the parent.

Invariant: the copy does not interpret its contents, except to count them and to name their pages.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from twice.recorder.compare_points import ComparePoint
from twice.recorder.effects.events import ACTOR, LENIENT, STRICT, unpack
from twice.recorder.effects.ops import OPS, has_cursor
from twice.recorder.record import Frame
from twice.recorder.record_form import ERRORS, INPUT, LOOP, OUTPUT
from twice.recorder.runrecord import RunRecord
from twice.recorder.session_parts import RecordingSink, Sink
from twice.recorder.snapshots import Cursors, load

Reads = dict[str, Counter[str]]


def copy_prefix(record: RunRecord, sink: RecordingSink, cursors: Cursors) -> Reads:
    """Copy everything before a snapshot into a fresh record, that snapshot included.

    Returns:
        How often each operation was read in what was copied, by ``strict`` and ``lenient``.
    """
    reader, points = record.reader, cursors.points
    snapshots = iter([entry for entry in reader.snapshots if entry.point <= points])
    snapshot = next(snapshots, None)
    copied = _Copied(sink)
    for named in reader.frames(kinds=[ACTOR]):  # all of them: the branch goes on with their numbers
        sink.writer.frame(named.kind, named.actor, bytes(named.payload), tick=-1)
    frames = reader.frames(last_point=points)
    frame = next(frames, None)
    for index in range(points):
        while snapshot is not None and snapshot.point <= index:
            sink.snapshot(load(reader, snapshot.number))
            snapshot = next(snapshots, None)
        while frame is not None and frame.point <= index:
            copied.add(frame)
            frame = next(frames, None)
        point = reader.points.point(index)
        columns = tuple(point.digests)
        digests = b"".join(point.digests.values())
        sink.point(ComparePoint(point.tick, point.name, columns, point.root, point.chain, digests))
    while frame is not None and not copied.reaches(cursors):
        copied.add(frame)
        frame = next(frames, None)
    while snapshot is not None:
        sink.snapshot(load(reader, snapshot.number))
        snapshot = next(snapshots, None)
    return copied.reads


class _Copied:
    """Writes frames into the branch and counts what it wrote."""

    def __init__(self, sink: RecordingSink) -> None:
        self.reads: Reads = {"strict": Counter(), "lenient": Counter()}
        self._sink = sink
        self._frames: Counter[str] = Counter()
        self._main_reads = 0
        self._printed: Counter[str] = Counter()
        self._lenient: Counter[int] = Counter()

    def add(self, frame: Frame) -> None:
        if frame.kind == ACTOR:
            return
        payload = bytes(frame.payload)
        self._sink.writer.frame(frame.kind, frame.actor, payload, tick=frame.tick)
        self._frames[frame.kind] += 1
        if frame.kind in {OUTPUT, ERRORS}:
            self._printed[frame.kind] += len(payload)
        if frame.kind in {STRICT, LENIENT}:
            counts = self.reads["strict" if frame.kind == STRICT else "lenient"]
            numbers = [number for number, _ in unpack(payload)]
            counts.update(OPS[number].name for number in numbers if number in OPS)
            if frame.kind == LENIENT:
                is_main = frame.actor == 0
                self._lenient.update(n for n in numbers if has_cursor(n, is_main=is_main))
            elif frame.actor == 0:
                self._main_reads += len(numbers)

    def reaches(self, cursors: Cursors) -> bool:
        """Return whether everything that the cursors count has been copied."""
        reads: Any = cursors.effects["reads"]
        lenient: Any = cursors.effects.get("lenient", {})
        return (
            self._frames[INPUT] >= cursors.inputs
            and self._frames[LOOP] >= cursors.loop
            and self._main_reads >= reads
            and all(self._lenient[number] >= read for number, read in lenient.items())
            and all(
                self._printed[kind] >= size
                for kind, size in zip((OUTPUT, ERRORS), cursors.printed or (), strict=False)
            )
        )


def merge_manifests(
    copied: Reads, silent: Mapping[str, Any], executed: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the closed-world manifest of a branch: the reads that were copied, and its own.

    Args:
        copied: reads in the copied prefix.
        silent: manifest when the session resumed; those reads were served in silence.
        executed: manifest at the end.
    """
    whole = dict(executed)
    for how, counts in copied.items():
        both = Counter(executed[how])
        both.subtract(silent[how])
        both.update(counts)
        whole[how] = {name: count for name, count in sorted(both.items()) if count}
    return whole


class BranchSink(RecordingSink):
    """Writes a branch into its own record, and hands its observations to a second sink first.

    Attributes:
        checking: the second sink; the prefix that is copied goes to the record alone.
    """

    checking = Sink()

    def point(self, taken: ComparePoint) -> None:
        """Check and append the point."""
        self.checking.point(taken)
        super().point(taken)

    def value(self, column: str, payload: bytes, tick: int) -> None:
        """Check and append the value."""
        self.checking.value(column, payload, tick)
        super().value(column, payload, tick)

    def pass_over(self, column: str) -> None:
        """Tell the checking sink: nothing is compared in the branch's own record."""
        self.checking.pass_over(column)


class BranchPrefixSink(Sink):
    """Hands points on to a checking sink while they lie before the fork.

    Args:
        checking: compares with the parent.
        fork: first tick that may differ.
    """

    def __init__(self, checking: Sink, fork: int) -> None:
        self._checking = checking
        self._fork = fork

    def point(self, taken: ComparePoint) -> None:
        """Compare a point of the prefix."""
        if taken.tick < self._fork and taken.name != "end":
            self._checking.point(taken)

    def pass_over(self, column: str) -> None:
        """Tell the checking sink."""
        self._checking.pass_over(column)

    def value(self, column: str, payload: bytes, tick: int) -> None:
        """Compare a value of the prefix."""
        if tick < self._fork:
            self._checking.value(column, payload, tick)
