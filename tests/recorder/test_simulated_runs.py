"""Programs over asyncio that are recorded in a simulated loop replay with their order and their times."""

from __future__ import annotations

from pathlib import Path

import pytest

import twice
from programs import recorded, verified
from twice.errors import ComponentTaken, ScheduleRefused, SimulationRefused
from twice.recorder.runrecord import RunRecord
from twice.recorder.setup import Setup
from twice.simulation.order import Order

LEDGER = """
import asyncio, datetime, random, time

balance = 0

async def deposit(n):
    global balance
    seen = balance
    await asyncio.sleep(random.random())
    balance = seen + n
    print("deposit", n, time.monotonic() == asyncio.get_running_loop().time())

async def main():
    await asyncio.gather(*(deposit(n) for n in range(4)))
    return balance, datetime.datetime.now().isoformat()

def sync(run):
    for tick in run.ticks(2):
        asyncio.run(main())
"""


@pytest.mark.integration
@pytest.mark.parametrize("function", ["main", "sync"])
def test_a_program_repeats_its_order_in_virtual_time(tmp_path: Path, function: str):
    source = (
        LEDGER.replace("main", "work") + "\nmain = " + {"main": "work", "sync": "sync"}[function]
    )

    statement = verified(tmp_path, source, seed=3, order=Order())

    assert statement.result == "PASS"
    assert statement.to_json()["concurrency"] == {
        "asyncio": {"strategy": "recorded", "grade": "B2"}
    }
    with RunRecord.open(statement.path) as record:
        assert record.setup.order == Order()
        assert "schedule" in record.reader.points.point(0).digests
        assert b"False" not in record.printed()[0]


@pytest.mark.integration
def test_a_blocking_call_ends_the_run_and_the_record_so_far_stays(tmp_path: Path):
    source = """
    import asyncio, time

    async def main(run):
        for tick in run.ticks(3):
            await asyncio.sleep(1)
            if tick == 1:
                time.sleep(1)
    """

    with pytest.raises(SimulationRefused, match=r"time\.sleep .* at program\.py:8"):
        recorded(tmp_path, source, seed=1, order=Order(), out=tmp_path / "a.twice")

    with RunRecord.open(tmp_path / "a.twice") as record:
        assert record.ending is not None
        assert record.ending["how"] == "refused"
        assert record.ending["ticks"] == 2


@pytest.mark.integration
def test_another_loop_is_refused_by_its_name(tmp_path: Path):
    source = """
    import asyncio

    def main(run):
        loop = asyncio.SelectorEventLoop()
        loop.run_until_complete(asyncio.sleep(0))
    """

    with pytest.raises(SimulationRefused, match="_UnixSelectorEventLoop"):
        recorded(tmp_path, source, seed=1, order=Order(), out=tmp_path / "a.twice")


def test_a_component_may_be_called_schedule_in_other_runs_alone(tmp_path: Path):
    for order in (None, Order()):
        with twice.recording(tmp_path / "a.twice", seed=1, order=order, force=True) as run:
            if order is None:
                run.track("schedule", {"a": 1})
            else:
                with pytest.raises(ComponentTaken):
                    run.track("schedule", {"a": 1})


def test_the_policy_of_a_stranger_is_refused(tmp_path: Path):
    with twice.recording(tmp_path / "a.twice", seed=1, order=Order()):
        pass
    with RunRecord.open(tmp_path / "a.twice") as record:
        described = record.identity["setup"]
    assert Setup.from_json(described).order == Order()
    broken = {**described, "policies": {**described["policies"], "loop": {"strategy": 3}}}

    with pytest.raises(ScheduleRefused):
        Setup.from_json(broken)
