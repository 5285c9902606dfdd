# Laid down by twice scaffold from sheet 06; owned by it: change the sheet, or eject the file.
"""Replay: what 06 says can be done with a record can be done."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import twice

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


def test_a_run_is_proved_again(record: twice.RunRecord) -> None:
    done = _twice("verify", str(record.path))
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_session_stands_at_any_tick(record: twice.RunRecord) -> None:
    assert record.ending is not None, "the run did not end"
    with twice.replay(record.path) as session:
        for tick in (record.ticks, record.ticks // 2, 0):
            assert session.seek(tick) == tick
            assert set(record.ending["components"]) <= set(session.state())


def test_a_branch_leaves_its_run_where_it_says(
    record: twice.RunRecord, tmp_path: Path
) -> None:
    fork = record.ticks // 2
    out = tmp_path / "branch.twice"
    with twice.branch(record.path, at=fork, out=out) as branch:
        assert branch.parent is not None, "a branch names its parent"
        assert branch.parent["run_id"] == record.run_id
        assert branch.parent["fork"]["tick"] == fork
