"""Claims about reading compare-points in a row, as a replay does."""

from __future__ import annotations

from pathlib import Path

import pytest

from twice.recorder.record import RecordReader, RecordWriter
from twice.recorder.record.writer import POINTS_PER_BLOCK


@pytest.mark.parametrize("first", [0, 1, POINTS_PER_BLOCK - 1, POINTS_PER_BLOCK, 3000, 3001])
def test_rows_are_the_points_from_anywhere_on(tmp_path: Path, first: int) -> None:
    count = 3000
    writer = RecordWriter.create(tmp_path / "a.twice", {})
    layouts = [writer.layout(names) for names in ([], ["a"], ["a", "b"])]
    for tick in range(count):
        layout = layouts[tick % 7 % 3]
        digests = tick.to_bytes(16, "little") * (tick % 7 % 3)
        writer.point(layout, tick, "tick" if tick % 5 else "moved", bytes(16), bytes(16), digests)
    writer.close({})

    with RecordReader.open(tmp_path / "a.twice") as reader:
        rows = list(reader.points.rows(first))
        points = list(reader.points.iterate(first))

    assert len(rows) == max(0, count - first)
    for (tick, shape, digests), point in zip(rows, points, strict=True):
        assert (tick, shape.name, shape.components) == (
            point.tick,
            point.name,
            tuple(point.digests),
        )
        assert digests == b"".join(point.digests.values())
