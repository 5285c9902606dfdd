"""``run.flush``: what was recorded before it outlives the process, whatever ends it."""

from __future__ import annotations

from pathlib import Path

import pytest

import twice
from programs import verified, write
from twice.errors import ProgramFailed
from twice.recorder.runrecord import RunRecord
from twice.replayer.verify import verify

pytestmark = pytest.mark.integration

KILLED = """
def main(run):
    import os, signal
    walk = run.track("walk", Walk(run.rng("walk")))
    for tick in run.ticks():
        run.flush()
        if tick == 3:
            os.kill(os.getpid(), signal.SIGKILL)
        walk.step(run.effects.clock.time() * 0)
"""


def test_every_tick_before_it_is_in_the_record_of_a_killed_process(tmp_path: Path) -> None:
    out = tmp_path / "a.twice"
    with pytest.raises(ProgramFailed):
        twice.record(write(tmp_path, KILLED, walk=True), seed=1, out=out)

    with RunRecord.open(out) as record:
        assert (record.ticks, len(record.reader.points)) == (3, 4)  # the start, then three ticks
    judged = verify(out)
    assert judged.result == "PARTIAL"
    assert judged.failure is None


def test_it_changes_nothing_in_replay(tmp_path: Path) -> None:
    source = KILLED.replace("tick == 3", "False").replace("run.ticks()", "run.ticks(5)")

    assert verified(tmp_path, source, walk=True).result == "PASS"
