"""An interrupt from the terminal is the parent's to act on."""

from __future__ import annotations

import os
import signal
import threading
from contextlib import closing, suppress
from functools import partial
from pathlib import Path

import pytest

import twice
from namespace_probes import probe_world
from programs import write
from twice.diagnosis.executions import BEFORE_ALL, Side, Window
from twice.worker.concurrency import run_concurrently
from twice.worker.process import FreshWorker

pytestmark = pytest.mark.integration

_NAME = f"held {os.getpid()}"  # of the replay's process, as the kernel shows it


def _is_running() -> bool:
    for comm in Path("/proc").glob("[0-9]*/comm"):
        with suppress(OSError):
            if comm.read_text().strip() == _NAME:
                return True
    return False


def test_a_child_of_a_diagnosis_leaves_interrupts_to_its_parent():
    with FreshWorker("twice.diagnosis", os.environ, cwd=None) as child:
        assert child.ask({"action": "fork"})["kind"] == "fork"
        os.kill(child.pid, signal.SIGINT)
        child.channel.close()
        assert child.wait() == 0


@pytest.mark.skipif(not probe_world().available, reason=probe_world().reason)
def test_an_interrupted_diagnosis_does_not_wait_for_its_executions(tmp_path):
    program = write(
        tmp_path,
        f"""
        import posix, time

        def main(run):
            held = run.track("held", {{"n": 0}})
            for tick in run.ticks(3):
                held["n"] += 1
            if posix.readlink("/proc/self/ns/mnt") != {os.readlink("/proc/self/ns/mnt")!r}:
                posix.write(posix.open("/proc/self/comm", posix.O_WRONLY), b"{_NAME}")
                time.sleep(600)
        """,
    )
    record = twice.record(program, seed=3, out=tmp_path / "a.twice")
    with record, closing(Side("a", record)) as side:
        last = len(record.reader.points) - 1

        def interrupted() -> None:
            pause = threading.Event()
            while not _is_running():
                pause.wait(0.005)  # the interpreter is needed for what is waited for
            os.kill(os.getpid(), signal.SIGINT)

        threading.Thread(target=interrupted, daemon=True).start()
        calls = [partial(side.execute, Window(BEFORE_ALL, last), None)] * 2
        with pytest.raises(KeyboardInterrupt):
            run_concurrently(calls)
