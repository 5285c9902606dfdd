"""A replay that takes longer than its time limit is not judged, and nothing of it is left running."""

from __future__ import annotations

from pathlib import Path

import pytest

import twice
from twice.errors import UsageError

pytestmark = pytest.mark.integration  # recordings and replays are processes

PROGRAM = """
def main(run):
    held = run.track("held", {{"n": 0}})
    for tick in run.ticks(3):
        held["n"] += tick
        {then}
"""


@pytest.fixture
def record(tmp_path: Path) -> Path:
    """Record a program that ends, and make one of it that never does."""
    program = tmp_path / "program.py"
    program.write_text(PROGRAM.format(then=""))
    twice.record(f"{program}:main", out=tmp_path / "a.twice", seed=1)
    program.write_text(PROGRAM.format(then="while tick: pass"))
    return tmp_path / "a.twice"


def test_it_is_unknown_and_names_the_limit_and_the_place(record: Path) -> None:
    found = twice.verify(record, informational=True, time_limit_s=1.5)

    assert found.result == "UNKNOWN"
    assert "not judged: the time limit of 1.5 s was reached, after compare-point 0" in found.caveats
    assert found.exit_code == 2
    running = [each for each in Path("/proc").glob("[0-9]*/cmdline") if _names(each, record.parent)]
    assert running == []


def test_enough_time_changes_nothing(record: Path) -> None:
    (record.parent / "program.py").write_text(PROGRAM.format(then=""))

    assert twice.verify(record, time_limit_s=10**9).result == "PASS"


def _names(file: Path, folder: Path) -> bool:
    try:
        cwd = (file.parent / "cwd").readlink()
    except OSError:  # it has ended, or belongs to another account
        return False
    return cwd == folder


def test_a_sample_of_runs_has_none(record: Path) -> None:
    statistical = twice.Predicate(twice.DeterminismClass.STATISTICAL, twice.Scope.HOST)

    with pytest.raises(UsageError, match="judged by a sample"):
        twice.verify(record, predicate=statistical, time_limit_s=60)
