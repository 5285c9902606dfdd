"""What the tasks of a loop read from the world counts as a difference, too."""

from __future__ import annotations

from pathlib import Path

import pytest

import twice
from twice.diagnosis.read_comparison import reads_that_differ
from twice.recorder.runrecord import RunRecord

READS = """
import asyncio, time

async def work():
    await asyncio.sleep(0)
    return time.perf_counter_ns()

async def both():
    return await asyncio.gather(work(), work())

def main(run):
    asyncio.run(both())
"""


@pytest.mark.integration
def test_a_clock_that_tasks_read_is_a_source_that_differs(tmp_path: Path) -> None:
    """It records twice: two real runs have two clocks."""
    program = tmp_path / "p.py"
    program.write_text(READS)
    for name in "ab":
        twice.record(f"{program}:main", seed=1, out=tmp_path / f"{name}.twice").close()

    with RunRecord.open(tmp_path / "a.twice") as a, RunRecord.open(tmp_path / "b.twice") as b:
        assert not list(a.strict_reads())
        assert reads_that_differ(a, b, None) == ["clock.perf_counter_ns"]
