"""A branch without another input goes on as its parent did, or says that it does not."""

from __future__ import annotations

from pathlib import Path

import pytest

from programs import cli, recorded
from twice.recorder.cadence import parse_cadence

pytestmark = pytest.mark.integration  # the run and its branch are processes

WHOLE = """
def main(run):
    held = run.track("held", {"n": 0})
    for tick in run.ticks(6):
        held["n"] += tick
"""
PARTIAL = (
    WHOLE.replace('held["n"] += tick', 'SEEN["n"] += 1; held["n"] += SEEN["n"]')
    + 'SEEN = {"n": 0}\n'
)


@pytest.mark.parametrize("source", [WHOLE, PARTIAL], ids=["whole state", "a global besides"])
def test_a_resumed_run_that_leaves_its_parent_is_told(source: str, tmp_path: Path) -> None:
    recorded(tmp_path, source, cadence=parse_cadence("every=2")).close()

    done = cli("branch", "a.twice", "--at", 4, "-o", "b.twice", cwd=tmp_path)

    assert done.returncode == 0, done.stderr
    told = "no input was replaced, and the run leaves its parent at tick 4"
    assert (told in done.stdout) is (source is PARTIAL)
