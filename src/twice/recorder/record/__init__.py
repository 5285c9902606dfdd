"""The run record: one append-only file in which a run is written down and can be read again.

What a frame's payload or a snapshot's envelope says is known to those who wrote it, not here.

Invariant: what was sealed before a crash can be read after it, and a changed byte is found.
"""

from twice.recorder.record.block_writer import discard_hidden, hidden_beside, migrate
from twice.recorder.record.points import (
    Point,
    first_difference,
    first_other_columns,
    is_same_content,
)
from twice.recorder.record.reader import Frame, RecordReader
from twice.recorder.record.writer import RecordWriter

__all__ = [
    "Frame",
    "Point",
    "RecordReader",
    "RecordWriter",
    "discard_hidden",
    "first_difference",
    "first_other_columns",
    "hidden_beside",
    "is_same_content",
    "migrate",
]
