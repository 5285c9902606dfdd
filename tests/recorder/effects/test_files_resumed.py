"""Executions that begin at a snapshot, or leave the record: what they write stays away, too."""

from __future__ import annotations

from pathlib import Path

import pytest

import twice
from programs import recorded
from twice.errors import FileNotRebuilt
from twice.recorder.cadence import Cadence
from twice.replayer.verify import verify

pytestmark = pytest.mark.integration

PROGRAM = """
from pathlib import Path

OUT = Path(__file__).with_name("out.txt")

def main(run):
    seen = run.track("seen", {"count": 0})
    for tick in run.ticks(6):
        push = run.input("push", lambda: 1)
        with OUT.open("a") as out:
            out.write(f"{push}\\n")
        seen["count"] += %s
"""


def test_a_segment_that_writes_alone_is_verified(tmp_path: Path) -> None:
    with recorded(tmp_path, PROGRAM % "push", cadence=Cadence("tick", 2)) as record:
        path = record.path
    statement = verify(path, first=4)

    assert statement.result == "PARTIAL", statement.failure
    assert any("files that were written" in caveat for caveat in statement.caveats)
    assert (tmp_path / "out.txt").read_text() == "1\n" * 6


def test_a_segment_that_reads_what_was_written_before_it_is_refused_by_name(tmp_path: Path) -> None:
    with recorded(tmp_path, PROGRAM % "len(OUT.read_text())", cadence=Cadence("tick", 2)) as record:
        path = record.path
    assert verify(path).result == "PASS"
    with pytest.raises(FileNotRebuilt, match=r"out\.txt"):
        verify(path, first=4)


def test_a_branch_writes_to_no_real_file(tmp_path: Path) -> None:
    with recorded(tmp_path, PROGRAM % "len(OUT.read_text())") as record:
        path = record.path
    twice.branch(path, at=3, out=tmp_path / "b.twice", inputs={"push": 22}).close()

    assert (tmp_path / "out.txt").read_text() == "1\n" * 6
    assert verify(tmp_path / "b.twice").result == "PASS"
