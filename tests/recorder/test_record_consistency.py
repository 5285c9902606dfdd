"""A record that twice wrote agrees with itself, whatever is judged within a tolerance."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from programs import recorded
from twice.recorder.record.block_writer import migrate
from twice.recorder.runrecord import RunRecord
from twice.replayer.record_consistency import require_consistent_points
from twice.replayer.verify import verify

TOLERANT = """
    from twice.foundation.comparison import Abs

    def main(run):
        near = run.track("near", [0.0], equivalence=Abs(0.5))
        exact = run.track("exact", [0.0])
        for tick in run.ticks(4):
            near[0] += 1
            exact[0] += 1
            run.compare({name!r}, near[0], within=Abs(0.1))
"""


@pytest.mark.parametrize("name", ["value", "near", "exact"])
def test_points_with_tolerances_are_consistent(tmp_path: Path, name: str) -> None:
    with recorded(tmp_path, textwrap.dedent(TOLERANT.format(name=name))) as record:
        require_consistent_points(record)
        assert len(record.reader.points) == 10


@pytest.mark.integration
def test_a_torn_record_that_was_closed_is_judged_up_to_its_tear(tmp_path: Path) -> None:
    """A session of its own is executed again."""
    source = TOLERANT.format(name="value").replace("ticks(4)", "ticks(3000)")
    with recorded(tmp_path, textwrap.dedent(source)) as record:
        torn, n_points = tmp_path / "torn.twice", len(record.reader.points)
        torn.write_bytes(record.path.read_bytes()[: record.path.stat().st_size // 2])
    migrate(torn, tmp_path / "closed.twice")

    with RunRecord.open(tmp_path / "closed.twice") as closed:
        assert closed.complete
        assert 0 < len(closed.reader.points) < n_points
    assert verify(torn).result == verify(tmp_path / "closed.twice").result == "PARTIAL"
