"""Copy the beginning of one record into another: what a branch and its parent have in common.

Points, journal frames and snapshots are written again in their order; the chain of points comes out
the same, which is the proof that the prefix is identical.

Invariant: copying does not interpret what it copies, except where a snapshot names its pages.
"""

from __future__ import annotations

from twice.recording.comparepoints import Taken
from twice.recording.runrecord import RunRecord
from twice.recording.sink import RecordingSink
from twice.recording.snapshots import load


def copy_prefix(record: RunRecord, sink: RecordingSink, points: int) -> None:
    """Copy everything before compare-point number ``points`` into a fresh record.

    Args:
        record: the parent.
        sink: writes into the branch.
        points: how many compare-points are copied, with what stands before and between them.
    """
    reader = record.reader
    snapshots = iter([entry for entry in reader.snapshots if entry.point <= points])
    snapshot = next(snapshots, None)
    frames = reader.frames(last_point=points - 1) if points else iter(())
    frame = next(frames, None)
    for index in range(points):
        while snapshot is not None and snapshot.point <= index:
            sink.snapshot(load(reader, snapshot.number))
            snapshot = next(snapshots, None)
        while frame is not None and frame.point <= index:
            sink.writer.frame(frame.kind, frame.actor, bytes(frame.payload), tick=frame.tick)
            frame = next(frames, None)
        point = reader.points.point(index)
        columns = tuple(point.digests)
        digests = b"".join(point.digests.values())
        sink.point(Taken(point.tick, point.name, columns, point.root, point.chain, digests))
    while snapshot is not None:
        sink.snapshot(load(reader, snapshot.number))
        snapshot = next(snapshots, None)
