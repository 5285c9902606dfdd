"""A record that twice wrote agrees with itself, whatever is judged within a tolerance."""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest

from programs import recorded
from twice.recorder.record.block_writer import close_prefix
from twice.recorder.runrecord import RunRecord

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
        record.check()
        assert record.complete
