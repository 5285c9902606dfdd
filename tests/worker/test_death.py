"""A worker that dies is told apart and blamed on nobody; a deadline counts; nothing is left running.

Real processes: how they die is what is tested.
"""

from __future__ import annotations

import os
import random
import select
import signal
import threading
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from programs import recorded, write
from twice.errors import ProgramFailed
from twice.foundation.seeds import Seed
from twice.recorder.cadence import Cadence
from twice.recorder.environment.surroundings import for_recording
from twice.recorder.recorder import record_program, to_program
from twice.recorder.runrecord import RunRecord
from twice.recorder.setup import Setup
from twice.replayer.branch_session import BranchingSession
from twice.replayer.replay_job import start_child
from twice.replayer.replay_session import ReplaySession
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
    with FreshWorker("twice.recorder", os.environ) as worker:
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
    with FreshWorker("twice.recorder", os.environ) as worker:
        with pytest.raises(TimeoutError):
            worker.answer(0)
        scratch = worker.scratch
    assert find_processes_of(scratch) == []


class Killer:
    """Starts processes for executions of a record, and kills each at a random moment."""

    def __init__(self, seed: int, longest_s: float) -> None:
        self._random, self._longest_s = random.Random(seed), longest_s
        self._workers: list[FreshWorker] = []

    def start(self, given: RunRecord) -> Worker:
        worker = start_child(given)
        self._workers.append(worker)
        self.doom(worker.pid)
        return worker

    def doom(self, pid: int) -> None:
        timer = threading.Timer(self._random.uniform(0, self._longest_s), lambda: _kill(pid))
        timer.daemon = True
        timer.start()

    def require_nothing_left(self) -> None:
        for worker in self._workers:
            # The kernel kills the program after its keeper; it may need a moment for that.
            for left in find_processes_of(worker.scratch):
                with suppress(ProcessLookupError), os.fdopen(os.pidfd_open(int(left))) as end:
                    assert select.select([end], [], [], 60)[0], f"process {left} is left running"
            assert not Path(worker.scratch).exists()
        self._workers.clear()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    with recorded(tmp_path, SOURCE, cadence=Cadence("tick", 50)) as record:
        return record.path


@pytest.mark.fresh
@pytest.mark.heavy
def test_a_verification_may_be_killed_at_any_moment(path: Path) -> None:
    killer, words = Killer(4, 1.5), []
    for _ in range(200):
        statement = verify(path, start=killer.start)
        words.append(statement.result)
        assert statement.decision.rule in {"process-died", "equal"}
        killer.require_nothing_left()
    assert {"PASS", "UNKNOWN"} == set(words)


@pytest.mark.fresh
@pytest.mark.heavy
def test_a_recording_may_be_killed_at_any_moment(tmp_path: Path) -> None:
    program, out = write(tmp_path, SOURCE), tmp_path / "killed.twice"
    setup = Setup(to_program(program), Seed(1))
    killer, deaths, recordings = Killer(5, 0.8), list[str](), 0
    for _ in range(60):
        out.unlink(missing_ok=True)
        pids: list[int] = []

        def began(pid: int, pids: list[int] = pids) -> None:
            pids.append(pid)
            killer.doom(pid)

        try:
            record_program(setup, for_recording(os.environ), out, began=began)
        except ProgramFailed as error:
            deaths.append(error.happened)
        else:
            recordings += 1
            with RunRecord.open(out) as record:
                assert record.complete
        assert not Path(f"/proc/{pids[0]}").exists()
        if out.exists() and out.stat().st_size:
            RunRecord.open(out).close()  # what was written by then is a record, whole or torn
    assert all("died: signal SIGKILL" in death for death in deaths)
    assert recordings > 0 < len(deaths)


@pytest.mark.fresh
@pytest.mark.heavy
@pytest.mark.parametrize("is_branch", [False, True])
def test_a_session_may_be_killed_at_any_moment(path: Path, is_branch: bool) -> None:
    killer, deaths, ended = Killer(6 + is_branch, 0.8), list[str](), 0
    for number in range(60):
        out = path.with_name(f"branch-{number}.twice")
        try:
            with RunRecord.open(path) as record:
                if is_branch:
                    with BranchingSession(record, 120, out, start=killer.start) as branching:
                        branching.finish({}).close()
                else:
                    with ReplaySession(path, start=killer.start) as session:
                        session.seek(275)
                        session.state()
        except ProgramFailed as error:
            deaths.append(error.happened)
        else:
            ended += 1
        killer.require_nothing_left()
        if out.exists():  # a branch stands under its name once it is whole
            with RunRecord.open(out) as record:
                assert record.complete
    assert all("died: signal SIGKILL" in death for death in deaths)
    assert ended > 0 < len(deaths)


def _kill(pid: int) -> None:
    with suppress(ProcessLookupError):  # it has ended
        os.kill(pid, signal.SIGKILL)


@pytest.mark.fresh
@pytest.mark.integration
def test_an_interrupt_while_a_message_is_taken_in_loses_none(tmp_path: Path) -> None:
    (tmp_path / "talker.py").write_text(
        "import signal, sys\n"
        "from twice.worker.channel import inherited\n"
        "signal.signal(signal.SIGINT, signal.SIG_IGN)\n"
        "channel = inherited(int(sys.argv[1]))\n"
        "for kind in ('started', 'ended'):\n"
        "    channel.send({'kind': kind, 'pid': 1})\n"
    )

    def hear(message: Mapping[str, Any]) -> None:
        if message["kind"] == "started":
            signal.raise_signal(signal.SIGINT)

    environ = {**os.environ, "PYTHONPATH": str(tmp_path)}
    with FreshWorker("talker", environ, passes_interrupts=True, heard=hear) as worker:
        kinds = [worker.answer()["kind"] for _ in range(2)]

    assert kinds == ["started", "ended"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
