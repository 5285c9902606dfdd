"""However a program fails, the record of its failing order shows it, and verifies."""

from __future__ import annotations

from pathlib import Path

import pytest

import twice
from programs import write
from twice.recorder.runrecord import RunRecord
from twice.schedules.explore import explore

pytestmark = pytest.mark.integration

SOURCE = """
import asyncio, sys
from twice.schedules import always

async def main():
    done = []

    async def first():
        await asyncio.sleep(1)
        done.append(1)

    async def second():
        await asyncio.sleep(1)
        if not done:
            {fails}

    {runs}
"""
GATHER = "await asyncio.gather(first(), second())"
GROUP = """async with asyncio.TaskGroup() as group:
        group.create_task(first())
        group.create_task(second())"""
APART = """tasks = [asyncio.create_task(first()), asyncio.create_task(second())]
    await asyncio.sleep(2)"""
IN_MAIN = """tasks = [asyncio.create_task(first()), asyncio.create_task(second())]
    await asyncio.wait(tasks)
    asyncio.current_task().cancel()
    await asyncio.sleep(done[0] - 1)"""


@pytest.mark.parametrize(
    ("fails", "runs", "error", "ends"),
    [
        ("await asyncio.Event().wait()", GATHER, "twice.errors.Deadlock", "exception"),
        ("always(False, 'ordered')", GATHER, "twice.errors.PropertyViolated", "exception"),
        ("raise ValueError", GROUP, "ValueError", "exception"),
        ("raise ValueError", APART, "ValueError", "completed"),
        ("sys.exit(3)", GATHER, "SystemExit", "exit"),
        ("raise KeyboardInterrupt", GATHER, "KeyboardInterrupt", "interrupted"),
        ("pass", IN_MAIN, "asyncio.exceptions.CancelledError", "exception"),
    ],
)
@pytest.mark.sample(3)
def test_a_failure_is_in_its_record(
    fails: str, runs: str, error: str, ends: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    program = write(tmp_path, SOURCE.format(fails=fails, runs=runs))

    found = explore(program, seed=1, schedules=100, out=tmp_path / "found")

    (failure,) = found.failures
    assert failure.error["type"] == error
    assert failure.record is not None
    with RunRecord.open(failure.record) as record:
        assert record.ending is not None
        assert record.ending["how"] == ends
    assert twice.verify(failure.record).result == "PASS"


def test_a_program_that_leaves_with_success_has_not_failed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    program = write(tmp_path, SOURCE.format(fails="sys.exit(0)", runs=GATHER))

    assert explore(program, seed=1, schedules=20, out=tmp_path / "found").result == "none-found"


def test_a_call_that_cannot_be_simulated_is_an_error_and_no_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    binds = (
        "import asyncio, socket\nasync def main():\n    socket.socket().bind(('127.0.0.1', 0))\n"
    )

    with pytest.raises(twice.errors.SimulationRefused, match=r"socket\.bind"):
        explore(write(tmp_path, binds), seed=1, schedules=20, out=tmp_path / "found")
