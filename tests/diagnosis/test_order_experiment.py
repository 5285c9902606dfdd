"""Two simulated runs of one program: the order of steps that makes their difference is named, and no line is blamed for it.

Records are made and executed in processes of their own, because that is what a diagnosis does.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import twice
from programs import call, recorded, write
from twice.diagnosis.divergence import Divergence
from twice.diagnosis.executions import Side
from twice.diagnosis.next_steps import write_regression_test
from twice.errors import UsageError
from twice.foundation.channels import Channel
from twice.foundation.determinism_class import DeterminismClass, Predicate
from twice.simulation.order import Order

pytestmark = pytest.mark.integration

LEDGER = """
import asyncio

async def main():
    left, right = 100, 100

    async def move():
        nonlocal left, right
        left -= 10
        await asyncio.sleep(1)
        right += 10

    async def audit():
        await asyncio.sleep(1)
        assert left + right == 200, (left, right)

    await asyncio.gather(move(), audit())
"""
FAILS = Order("fifo", after={"main/move#1": "main/audit#1"})
SENTENCE = "audit() program.py:14 ran before move() program.py:10"
ROUNDS = """
import asyncio

def main(run):
    seen = run.track("seen", [])

    async def put(name):
        await asyncio.sleep(1)
        seen.append(name)

    async def put_all():
        await asyncio.gather(*map(put, "{names}"))

    for _ in run.ticks(3):
        asyncio.run(put_all())
"""
IDLE = """
import asyncio

async def main():
    await asyncio.gather(asyncio.sleep(1), asyncio.sleep(1))
"""
READS = """
import asyncio, os

async def main():
    async def wait(name):
        await asyncio.sleep(1)

    names = os.environ["NAMES"]
    await asyncio.gather(*(asyncio.create_task(wait(each)) for each in names))
    return names
"""


def compare(folder: Path, source: str, one: Order, two: Order, **options: Any) -> Divergence:
    for name, order in (("a", one), ("b", two)):
        recorded(folder, source, order=order, out=folder / f"{name}.twice", **options).close()
    return twice.diagnose(folder / "a.twice", folder / "b.twice")


@pytest.mark.parametrize("good", [Order("fifo"), Order("random", 3)])
def test_the_order_that_makes_a_run_fail_is_named_with_the_experiment(tmp_path: Path, good: Order):
    found = compare(tmp_path, LEDGER, good, FAILS)

    assert found.result == "localised"
    assert found.headline() == f"localised: {SENTENCE} in run b, after it in run a"
    assert found.operation is not None
    assert (found.operation.line, found.operation.confidence) == (14, 0.95)
    assert found.attribution[0].channel is Channel.CONCURRENCY
    assert found.attribution[0].confirmed
    (tried,) = found.experiments
    assert found.schedule is not None
    assert 0 < found.schedule.with_difference < found.schedule.runs
    assert f"{found.schedule.with_difference} of them gave the ending of run b" in tried.sentence
    assert (found.schedule.is_minimal, found.schedule.is_undone) == (True, True)
    assert len(found.to_text().splitlines()) <= 25


@pytest.mark.heavy
def test_the_run_that_failed_is_explained_on_whatever_side_it_is(tmp_path: Path):
    found = compare(tmp_path, LEDGER, FAILS, Order("fifo"))

    assert found.headline() == f"localised: {SENTENCE} in run a, after it in run b"
    assert found.operation is not None
    assert (found.operation.a, found.operation.b) == (
        "before move() program.py:10",
        "after move() program.py:10",
    )


@pytest.mark.heavy
def test_orders_that_only_together_make_a_difference_of_state_are_all_named(tmp_path: Path):
    turned = {"put_all/put#1": "put_all/put:2#1", "put_all/put:1#1": "put_all/put:2#1"}

    found = compare(
        tmp_path, ROUNDS.format(names="abc"), Order("fifo"), Order("fifo", after=turned)
    )

    assert found.schedule is not None
    assert found.schedule.difference == "compare-point 1: seen"
    assert [(each.first.actor, each.then.actor) for each in found.schedule.orders] == [
        ("put_all/put:2", "put_all/put"),
        ("put_all/put:2", "put_all/put:1"),
    ]
    assert found.headline().endswith(", and 1 order more")


@pytest.mark.heavy
def test_a_schedule_that_is_not_judged_explains_another_result(tmp_path: Path):
    source = LEDGER.replace("assert left + right == 200, (left, right)", "return left + right")
    source = source.replace("await asyncio.gather", "return await asyncio.gather")
    logical = Predicate(DeterminismClass.LOGICAL)

    found = compare(tmp_path, source, Order("fifo"), FAILS, predicate=logical)

    assert found.headline() == f"localised: {SENTENCE} in run b, after it in run a"
    assert found.schedule is not None
    assert found.schedule.difference == "returned value"


def test_runs_that_differ_in_their_order_alone_have_no_line_to_blame(tmp_path: Path):
    turned = Order("fifo", after={"main/sleep#1": "main/sleep:1#1"})

    found = compare(tmp_path, IDLE, Order("fifo"), turned)

    assert (found.result, found.operation) == ("unlocalised", None)
    assert found.schedule is not None
    assert found.headline() == (
        f"unlocalised: they differ in the order of their steps from step {found.schedule.step} on, and in nothing "
        "else that is compared"
    )
    assert [each.actor for each in found.schedule.steps] == ["main/sleep", "main/sleep:1"]


@pytest.mark.heavy
def test_what_runs_read_is_no_matter_of_their_order(tmp_path: Path):
    write(tmp_path, READS)
    for name, names in (("a", "xy"), ("b", "xyz")):
        recorded(
            tmp_path,
            READS,
            order=Order("fifo"),
            env={"NAMES": names},
            out=tmp_path / f"{name}.twice",
        ).close()

    found = twice.diagnose(tmp_path / "a.twice", tmp_path / "b.twice")

    assert found.schedule is None
    assert [each.outcome for each in found.experiments] == ["refuted"]
    assert any("a line that is named may differ for that alone" in each for each in found.caveats)


def test_nothing_is_said_of_the_order_where_it_is_the_same(tmp_path: Path):
    source = READS.replace("for each in names", "for each in 'xy'")
    for name in "ab":
        recorded(
            tmp_path,
            source,
            order=Order("fifo"),
            env={"NAMES": name},
            out=tmp_path / f"{name}.twice",
        ).close()

    found = twice.diagnose(tmp_path / "a.twice", tmp_path / "b.twice")

    assert found.schedule is None
    assert "order of steps" not in [each.cause for each in found.experiments]


def test_a_program_that_was_edited_is_not_executed_and_the_kept_orders_are_told(tmp_path: Path):
    for name, order in (("a", Order("fifo")), ("b", FAILS)):
        recorded(tmp_path, LEDGER, order=order, out=tmp_path / f"{name}.twice").close()
    write(tmp_path, LEDGER + "\n# edited\n")

    found = twice.diagnose(tmp_path / "a.twice", tmp_path / "b.twice")

    assert (found.result, found.operation) == ("unlocalised", None)
    assert found.headline() == "unlocalised: they differ in the order of their steps"
    assert found.evidence == ["run b was made with main/audit#1 before main/move#1"]
    (caveat,) = found.caveats
    assert caveat.startswith("no order of steps is named: the code of run a and b is not here")


def test_a_run_that_does_not_come_out_as_recorded_is_no_experiment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    real = Side.follow

    def follow_elsewhere(self: Side, **order: object) -> dict[str, Any]:
        return {**real(self, **order), "chain": bytes(16)}

    monkeypatch.setattr(Side, "follow", follow_elsewhere)

    found = compare(tmp_path, LEDGER, Order("fifo"), FAILS)

    assert (found.result, found.operation) == ("unlocalised", None)
    (caveat,) = found.caveats
    assert "run a, executed again in its own order, is not as it was recorded" in caveat


@pytest.mark.heavy
def test_the_next_step_keeps_the_order_and_no_test_is_written_that_could_not(tmp_path: Path):
    kept = compare(tmp_path, LEDGER, Order("fifo"), FAILS)
    assert kept.next[0].command.endswith("b.twice -o b-again.twice --informational")
    with pytest.raises(UsageError, match="no command line makes their orders of steps"):
        write_regression_test(kept, tmp_path / "test_a.py")


def test_the_command_names_the_order_in_text_and_json(tmp_path: Path):
    write(tmp_path, LEDGER)
    for name, order in (("a", Order("fifo")), ("b", FAILS)):
        recorded(tmp_path, LEDGER, order=order, out=tmp_path / f"{name}.twice").close()

    said = call("diagnose", "a.twice", "b.twice", cwd=tmp_path)
    document = json.loads(call("diagnose", "a.twice", "b.twice", "--json", cwd=tmp_path).stdout)

    assert said.returncode == 1
    assert said.stdout.startswith(
        "localised: audit() program.py:14 ran before move() program.py:10"
    )
    assert "step" in said.stdout
    (order,) = document["schedule"]["orders"]
    assert (order["first"]["line"], order["then"]["line"]) == (14, 10)
    assert document["schedule"]["sentences"] == [f"{SENTENCE} in run b, after it in run a"]
