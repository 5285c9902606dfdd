"""Programs are explored in a process of their own; what fails is recorded, verifies, and comes again after an edit."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import twice
from programs import call, write
from twice.errors import (
    OutputExists,
    OutputUnwritable,
    ProgramNotFound,
    ScheduleRefused,
    UsageError,
)
from twice.recorder.runrecord import RunRecord
from twice.schedules.explore import Exploration, FoundFailure, explore, is_endless
from twice.simulation.order import Order

pytestmark = pytest.mark.integration

LEDGER = """
import asyncio, pathlib

async def main():
    left, right = 100, 100

    async def move():
        nonlocal left, right
        left -= 10
        await asyncio.sleep(1)
        right += 10

    async def audit():
        await asyncio.sleep(1)
        pathlib.Path("audited").write_text("yes")
        assert left + right == 200, (left, right)

    await asyncio.gather(move(), audit())
"""
KEEPS_STATE = """
import asyncio

count = 0

async def main():
    async def add():
        global count
        seen = count
        await asyncio.sleep(1)
        count = seen + 1

    await asyncio.gather(add(), asyncio.sleep(1), asyncio.sleep(2))
    await add()
    assert count == 2
    return count

if __name__ == "__main__":
    asyncio.run(main())
"""


def test_a_failing_order_is_recorded_and_comes_again_after_an_edit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    program = write(tmp_path, LEDGER)

    found = explore(program, seed=1, schedules=200, out=tmp_path / "found")

    assert found.result == "found"
    (failure,) = found.failures
    assert failure.record == tmp_path / "found" / "failure-1.twice"
    assert failure.error["type"] == "AssertionError"
    (constraint,) = failure.constraints
    assert (constraint["first"]["actor"], constraint["then"]["actor"]) == (
        "main/audit",
        "main/move",
    )
    assert failure.sentences == ["audit() program.py:14 ran before move() program.py:10"]
    assert not (tmp_path / "audited").exists()
    assert twice.verify(failure.record).result == "PASS"

    source = Path(program.partition(":")[0])
    edited = source.read_text().replace(
        "await asyncio.gather(", "await asyncio.gather(asyncio.sleep(1), asyncio.sleep(0), "
    )
    source.write_text(edited.replace("left -= 10", "left -= 10\n        print('moved')"))
    with twice.rerun(failure.record, out=tmp_path / "again.twice", informational=True) as again:
        assert again.ending is not None
        assert again.ending["exception"]["type"] == "builtins.AssertionError"


def test_a_step_that_never_ends_has_no_record():
    error = {
        "type": "twice.errors.Livelock",
        "message": "E-SCHEDULE-003  A step has taken 10 s",
        "file": None,
        "line": None,
    }
    failure = FoundFailure(None, error, [], [], [], 1, 0, True)

    text = Exploration("fifo", 1, 1, [failure], [], [], False).to_text()

    assert is_endless(error)
    assert "no record: a recording would not end either" in text


@pytest.mark.heavy
def test_orders_of_another_program_are_said_to_be_unmet(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    program = write(tmp_path, LEDGER)
    (failure,) = explore(program, seed=1, schedules=200, out=tmp_path / "found").failures
    assert failure.record is not None
    Path(program.partition(":")[0]).write_text(
        "import asyncio\nasync def main():\n    await asyncio.sleep(1)\n"
    )

    with twice.rerun(failure.record, out=tmp_path / "again.twice", informational=True) as again:
        assert again.ending is not None
        (caveat,) = [each for each in again.ending["caveats"] if "never came about" in each]

    assert caveat == (
        "1 order between steps never came about: main/audit@main.<locals>.audit: asyncio sleep 1#0 "
        "before main/move@main.<locals>.move: asyncio sleep 1#0"
    )


@pytest.mark.parametrize("whole", [False, True])
def test_a_program_that_keeps_state_or_is_a_script_is_executed_in_forks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, whole: bool
):
    monkeypatch.chdir(tmp_path)
    program = write(tmp_path, KEEPS_STATE)

    found = explore(
        program.partition(":")[0] if whole else program,
        seed=1,
        schedules=12,
        strategy="random",
        out="found",
    )

    assert (found.result, found.schedules) == ("none-found", 12)


def test_a_program_that_keeps_state_is_loaded_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    first = "import os\nloaded_in = os.getpid()"
    last = "assert count == 2 and loaded_in != os.getpid()"
    program = write(tmp_path, first + KEEPS_STATE.replace("assert count == 2", last))

    found = explore(program, seed=1, schedules=4, out="found")

    assert (found.result, found.schedules) == ("none-found", 4)


def test_the_command_prints_the_document_of_the_contract(tmp_path: Path):
    program = write(tmp_path, LEDGER)

    done = call(
        "explore",
        program,
        "--seed",
        1,
        "--schedules",
        50,
        "-o",
        tmp_path / "found",
        "--json",
        cwd=tmp_path,
    )

    document = json.loads(done.stdout)
    assert done.returncode == 1
    assert document["format"] == "twice.exploration/1"
    assert document["result"] == "found"
    assert set(document["failures"][0]) >= {"record", "error", "constraints", "runs"}
    with RunRecord.open(document["failures"][0]["record"]) as record:
        assert record.setup.order is not None
        assert record.setup.order.strategy == "fifo"

    again = call("explore", program, "--seed", 1, "-o", tmp_path / "found", cwd=tmp_path)
    assert again.returncode == 2
    assert "E-OUTPUT-001" in again.stderr
    assert "--force" in again.stderr
    forced = call("explore", program, "--seed", 1, "-o", "found", "--force", cwd=tmp_path)
    assert forced.returncode == 1


def test_bad_input_is_one_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    program = write(tmp_path, LEDGER)

    with pytest.raises(UsageError, match="0 schedules"):
        explore(program, seed=1, schedules=0, out="x")
    with pytest.raises(ScheduleRefused, match="luck"):
        explore(program, seed=1, strategy="luck", out="x")
    (tmp_path / "file").write_text("mine")
    with pytest.raises(OutputUnwritable, match="file takes no records: it is not a folder"):
        explore(program, seed=1, out="file")
    with pytest.raises(ProgramNotFound) as caught:
        explore(f"{program.partition(':')[0]}:nope", seed=1, out="x")
    assert caught.value.expected == "Functions there: main."


def test_a_record_in_the_folder_is_refused_before_the_search(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    program = write(tmp_path, LEDGER)
    (tmp_path / "x").mkdir()
    there = tmp_path / "x" / "failure-1.twice"
    there.write_text("mine")

    with monkeypatch.context() as patched:
        patched.setattr("twice.schedules.explore.FreshWorker", None)  # a search would need it
        for force in (False, True):
            with pytest.raises(OutputExists):
                explore(program, seed=1, out="x", force=force)
    assert there.read_text() == "mine"

    there.write_bytes(b"")
    (failure,) = explore(program, seed=1, schedules=200, out="x", force=True).failures
    (again,) = explore(program, seed=1, schedules=200, out="x", force=True).failures
    assert failure.record == again.record == Path("x/failure-1.twice")
    assert twice.verify(there).result == "PASS"


LOSES_DATA = """
import asyncio
from twice.schedules import fault, host

disk, acknowledged = [], []

async def serve():
    memory = list(disk)

    async def flush():
        while True:
            await asyncio.sleep(1)
            if not fault("disk-full"):
                disk[:] = memory

    async def handle(reader, writer):
        while line := await reader.readline():
            memory.append(line)
            writer.write(b"stored\\n")

    server = await asyncio.start_server(handle, "db", 5432)
    await asyncio.gather(flush(), server.serve_forever())

async def main():
    disk.clear()
    acknowledged.clear()
    db = host("db", serve)
    await asyncio.sleep(0.1)
    for n in range(3):
        while not acknowledged[n:]:
            try:
                reader, writer = await asyncio.open_connection("db", 5432)
                writer.write(b"%d\\n" % n)
                if await reader.readline():
                    acknowledged.append(b"%d\\n" % n)
                writer.close()
            except OSError:
                await asyncio.sleep(0.5)
    await asyncio.sleep(100)
    db.cancel()
    assert set(acknowledged) <= set(disk)
"""


def test_a_crash_that_loses_data_is_found_recorded_and_diagnosed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    program = write(tmp_path, LOSES_DATA)
    with pytest.raises(ScheduleRefused, match="'weather' is no kind of fault"):
        explore(program, seed=1, schedules=200, out="found", faults="crash,weather")

    found = explore(program, seed=1, schedules=200, out="found")

    (failure,) = found.failures
    assert failure.record is not None
    (fault,) = failure.faults
    assert str(fault["fault"]).startswith("crash db ")
    assert fault["file"] == program.partition(":")[0]
    assert failure.constraints == []
    assert failure.sentences[0].startswith("the host 'db' crashed after a step of ")
    assert " s, while " in failure.sentences[0]
    assert failure.sentences[0] in found.to_text()
    assert found.to_json()["failures"][0]["faults"] == [fault]  # type: ignore[index]
    assert twice.verify(failure.record).result == "PASS"

    twice.record(program, seed=1, out="good.twice", order=Order("fifo")).close()
    verdict = twice.diagnose("good.twice", failure.record)
    assert verdict.result == "localised"
    assert verdict.schedule is not None
    assert verdict.schedule.sentences == [f"{failure.sentences[0]} in run b"]
    assert verdict.operation is not None
    assert verdict.operation.b == fault["fault"]


ASKS_THE_RUN = """
import asyncio

async def main(run):
    for tick in run.ticks(3):
        await asyncio.sleep(1)
        if run.fault("disk-full"):
            raise OSError(28, "No space left on device")
"""


def test_a_run_has_points_for_faults_as_well(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    program = write(tmp_path, ASKS_THE_RUN)

    (failure,) = explore(program, seed=1, schedules=60, out="found").failures

    assert failure.record is not None
    assert [each["fault"] for each in failure.faults] == ["disk-full"]
    (sentence,) = failure.sentences
    assert sentence.startswith("the fault 'disk-full' struck in main() program.py:")
    ordinary = twice.record(program, seed=1, out="ordinary.twice", order=Order("random"))
    assert ordinary.ending is not None
    assert ordinary.ending["how"] == "completed"
    ordinary.close()
