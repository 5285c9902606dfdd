"""An interrupt from the terminal is the parent's to act on."""

from __future__ import annotations

import os
import signal
import threading
from contextlib import closing
from functools import partial

import pytest

import twice
from programs import write
from twice.diagnosing.executions import BEFORE_ALL, Side, Window
from twice.diagnosing.together import together
from twice.recording.launch import ChildProcess


def test_a_child_of_a_diagnosis_leaves_interrupts_to_its_parent():
    with ChildProcess("twice.diagnosing", os.environ, cwd=None) as child:
        assert child.ask({"action": "zygote"})["kind"] == "zygote"
        os.kill(child.pid, signal.SIGINT)
        child.channel.close()
        assert child.wait() == 0


def test_an_interrupted_diagnosis_does_not_wait_for_its_executions(tmp_path):
    program = write(
        tmp_path,
        """
        import posix, time
        from pathlib import Path

        def main(run):
            held = run.track("held", {"n": 0})
            for tick in run.ticks(3):
                held["n"] += 1
            marker = Path(__file__).with_name("marker")
            if posix.access(marker, 0):  # behind the back of what governs files
                posix.write(posix.open(marker, posix.O_WRONLY), b"running")
                time.sleep(600)
        """,
    )
    record = twice.record(program, seed=3, out=tmp_path / "a.twice")
    marker = tmp_path / "marker"
    marker.touch()
    with record, closing(Side("a", record)) as side:
        last = len(record.reader.points) - 1

        def interrupted() -> None:
            while not marker.read_text():
                pass
            os.kill(os.getpid(), signal.SIGINT)

        threading.Thread(target=interrupted, daemon=True).start()
        calls = [partial(side.execute, Window(BEFORE_ALL, last), None)] * 2
        with pytest.raises(KeyboardInterrupt):
            together(calls)
