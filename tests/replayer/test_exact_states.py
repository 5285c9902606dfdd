"""The state that a replay shows is the one that the run had, whatever a snapshot lacks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from programs import recorded
from twice.foundation.determinism_class import Predicate
from twice.recorder.cadence import Cadence
from twice.recorder.record_form import OUTPUT
from twice.recorder.runrecord import RunRecord
from twice.replayer.replay_job import exact_snapshot, restorable_snapshot
from twice.replayer.replay_session import replay

LOCAL_VARIABLE = """
    def main(run):
        box, kept = run.track("box", {"x": 0}), 0
        for tick in run.ticks(7):
            print(box["x"])
            kept += tick
            box["x"] += kept
    """
THREAD_WITHOUT_READS = """
    from queue import Queue
    from threading import Thread

    def main(run):
        box, asked, answers = run.track("box", {"x": 0}), Queue(), Queue()

        def add_up():
            kept = 0
            while (given := asked.get()) is not None:
                kept += given
                answers.put(kept)

        for tick in run.ticks(7):
            print(box["x"])
            if tick == 1:
                Thread(target=add_up).start()
            if tick >= 1:
                asked.put(tick)
                box["x"] += answers.get()
        asked.put(None)
    """
TASK_OF_A_TASK = """
    import asyncio
    import os

    def main(run):
        box = run.track("box", {"x": 0})

        async def add(event):
            kept = os.urandom(1)[0]
            while await event.wait():
                event.clear()
                box["x"] += kept

        async def start(event):
            await asyncio.create_task(add(event))

        async def tick_on():
            event = asyncio.Event()
            for tick in run.ticks(7):
                print(box["x"])
                if tick == 1:
                    started = asyncio.create_task(start(event))
                event.set()
                await asyncio.sleep(0.001)
            started.cancel()

        asyncio.run(tick_on())
    """
FILE_OF_ITS_OWN = """
    from pathlib import Path

    def main(run):
        box, file = run.track("box", {"x": 0}), Path(__file__).with_name("kept.txt")
        for tick in run.ticks(7):
            print(box["x"])
            if tick == 1:
                file.write_text("17")
            box["x"] += 1 if tick < 3 else int(file.read_text())
    """
JOB_IN_A_POOL = """
    from concurrent.futures import ThreadPoolExecutor
    from threading import Event

    def main(run):
        box, pool, event = run.track("box", {"x": 0}), ThreadPoolExecutor(1), Event()
        for tick in run.ticks(7):
            print(box["x"])
            if tick == 1:
                job = pool.submit(event.wait)
            if tick == 5:
                event.set()
                box["x"] = int(job.result())
    """


def record(folder: Path, source: str, **policies: Any) -> RunRecord:
    return recorded(folder, source, cadence=Cadence("tick", 2), **policies)


def read_printed(record: RunRecord) -> list[int]:
    """Return what the run had in its box before each tick."""
    frames = record.reader.frames((OUTPUT,))
    return [*map(int, b"".join(bytes(frame.payload) for frame in frames).split())]


@pytest.mark.integration  # executions begin in processes of their own
@pytest.mark.parametrize("compared", ["tick", "snapshot"])
@pytest.mark.parametrize(
    "source",
    [LOCAL_VARIABLE, THREAD_WITHOUT_READS, TASK_OF_A_TASK, FILE_OF_ITS_OWN],
    ids=["local", "thread", "task", "file"],
)  # fmt: skip
def test_a_state_is_the_one_that_the_run_had(tmp_path: Path, source: str, compared: str) -> None:
    with record(tmp_path, source, granularity=compared) as made:
        assert len(made.reader.snapshots) == 4
        had = read_printed(made)
        for tick in (5, 4, 3):
            with replay(made.path, at=tick) as session:
                assert session.state("box") == {"x": had[tick]}
                session.seek(6)
                assert session.state("box") == {"x": had[6]}


@pytest.mark.integration  # as above
def test_what_a_snapshot_lacks_is_said(tmp_path: Path) -> None:
    with record(tmp_path, LOCAL_VARIABLE) as made, replay(made.path, at=4) as session:
        session.state()
        assert session.caveats == []  # the snapshot itself is the state
        session.step()
        session.state()
        (caveat,) = session.caveats
    assert "was executed from the start" in caveat
    assert "--restores" in caveat


def test_no_execution_begins_where_something_lives_beside(tmp_path: Path) -> None:
    def find(source: str) -> list[int | None]:
        with record(tmp_path, source) as made:
            found = [restorable_snapshot(made, tick) for tick in range(7)]
            made.path.unlink()
            return found

    assert find(LOCAL_VARIABLE) == [0, 0, 1, 1, 2, 2, 3]
    assert find(THREAD_WITHOUT_READS) == [0] * 7
    assert find(JOB_IN_A_POOL) == [0, 0, 0, 0, 0, 0, 3]  # snapshots before 0, 2, 4 and 6
    assert find(TASK_OF_A_TASK) == [None] * 7  # its ticks are a task's


@pytest.mark.parametrize(
    "policy", [{"granularity": "snapshot"}, {"predicate": Predicate.parse(["logical"], "host")}]
)
def test_states_that_nothing_compares_are_reached_from_the_top(
    tmp_path: Path, policy: dict[str, Any]
) -> None:
    with record(tmp_path, LOCAL_VARIABLE, **policy) as made:
        assert restorable_snapshot(made, 5) == 2
        assert exact_snapshot(made, 5) is None
