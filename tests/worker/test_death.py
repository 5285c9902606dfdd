"""A worker that dies is told apart and blamed on nobody; a deadline counts; nothing is left running.

Real processes: how they die is what is tested.
"""

from __future__ import annotations

import os
import random
import signal
import threading
from pathlib import Path

import pytest

from programs import recorded
from twice.errors import ProgramFailed
from twice.recording.runrecord import RunRecord
from twice.replayer.replay_job import start_child
from twice.replayer.verify import verify
from twice.worker.process import NESTED, FreshWorker, Worker

SOURCE = """
    import random

    def main(run):
        seen = run.track("seen", [])
        for tick in run.ticks(300):
            seen.append(random.random())
            print(tick)
"""


def find_processes_of(scratch: str) -> list[str]:
    """Return the processes that were started with a worker's folder."""
    mark = f"{NESTED}={scratch}".encode()
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if mark in (folder / "environ").read_bytes().split(b"\0"):
                found.append(folder.name)
        except OSError:
            continue
    return found


@pytest.mark.fresh
@pytest.mark.integration
def test_how_a_worker_died_is_said() -> None:
    with FreshWorker("twice.recording", os.environ) as worker:
        worker.kill()
        with pytest.raises(ProgramFailed, match="died: signal SIGKILL"):
            worker.ask({"probes": False, "groups": None})
    with (
        FreshWorker("json.tool", os.environ) as worker,
        pytest.raises(ProgramFailed, match="died: exit code") as caught,
    ):
        worker.answer()
    assert "Its last words: " in caught.value.expected


@pytest.mark.fresh
@pytest.mark.integration
def test_a_deadline_of_nothing_is_over_at_once() -> None:
    with FreshWorker("twice.recording", os.environ) as worker:
        with pytest.raises(TimeoutError):
            worker.answer(0)
        scratch = worker.scratch
    assert find_processes_of(scratch) == []


@pytest.mark.fresh
@pytest.mark.heavy
def test_a_worker_may_be_killed_at_any_moment(tmp_path: Path) -> None:
    with recorded(tmp_path, SOURCE) as record:
        path = record.path
    chosen = random.Random(4)
    words: list[str] = []
    for _ in range(200):
        started: list[FreshWorker] = []

        def start(given: RunRecord, started: list[FreshWorker] = started) -> Worker:
            worker = start_child(given)
            started.append(worker)
            pid = worker.pid
            timer = threading.Timer(chosen.uniform(0, 1.5), lambda: _kill(pid))
            timer.daemon = True
            timer.start()
            return worker

        statement = verify(path, start=start)
        words.append(statement.result)
        assert statement.decision.rule in {"process-died", "equal"}
        assert find_processes_of(started[0].scratch) == []
        assert not Path(started[0].scratch).exists()
    assert {"PASS", "UNKNOWN"} == set(words)


def _kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass  # it has ended
