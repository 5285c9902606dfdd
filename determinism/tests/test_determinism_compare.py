# Laid down by twice scaffold from sheet 05; owned by it: change the sheet, or eject the file.
"""Compare-points: as dense as 05 says, and over the components that it names."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import twice

from wiring.compare import DIGEST, GRANULARITY, PROJECTION
from wiring.specified import RECORD

ROOT = Path(__file__).parents[1]


def _twice(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "twice", *arguments]
    return subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=False
    )


@pytest.fixture(name="record", scope="module")
def _record(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[twice.RunRecord]:
    out = tmp_path_factory.getbasetemp() / "run-of-the-specification.twice"
    if not out.exists():
        new = tmp_path_factory.mktemp("run") / "run.twice"
        done = _twice(*RECORD, "--quiet", "-o", str(new))
        assert done.returncode == 0, done.stderr
        new.replace(out)
    with twice.open(out) as opened:
        yield opened


def test_points_stand_where_the_specification_says(record: twice.RunRecord) -> None:
    assert record.setup.granularity == GRANULARITY
    assert DIGEST in ("", record.setup.algorithm.value)
    points = [(each.tick, each.name) for each in record.reader.points.iterate()]
    assert {"start", "end"} <= {name for _, name in points}
    if GRANULARITY == "tick":
        ticks = [tick for tick, name in points if name == "tick"]
        assert ticks == list(range(record.ticks))


def test_points_hold_what_is_compared(record: twice.RunRecord) -> None:
    held = record.reader.points.columns()
    assert [each for each in PROJECTION if each != "*" and each not in held] == []
