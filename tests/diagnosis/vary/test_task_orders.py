"""The order of tasks is varied in a simulated loop, and what differs there is named by its lines."""

from __future__ import annotations

from pathlib import Path

import pytest

from programs import write
from twice.diagnosis.vary.report import FactorResult, Variation
from twice.diagnosis.vary.search import vary

pytestmark = pytest.mark.integration

AUDIT = """
import asyncio

async def main():
    left, right = 100, 100
    seen = []

    async def move():
        nonlocal left, right
        left -= 10
        await asyncio.sleep(1)
        right += 10

    async def audit():
        await asyncio.sleep(1)
        seen.append(left + right)

    await asyncio.gather(move(), audit())
    {then}

asyncio.run(main())
"""
CALM = """
import asyncio
{more}

async def main():
    async def turn(n):
        await asyncio.sleep(0)
        return n

    print(await asyncio.gather(*map(turn, range(4))))

asyncio.run(main())
"""


def vary_order(folder: Path, source: str) -> tuple[Variation, FactorResult]:
    script = write(folder, source).partition(":")[0]
    found = vary(script, seed=1, factors=["task order"], skip_unable=True)
    (row,) = found.factors
    return found, row


@pytest.mark.parametrize(
    ("then", "result"),
    [
        ("print(seen)", "differs"),
        pytest.param("assert seen == [200]", "failed", marks=pytest.mark.heavy),
    ],
)
@pytest.mark.heavy
def test_an_order_that_changes_the_result_is_named_by_its_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, then: str, result: str
):
    monkeypatch.chdir(tmp_path)

    found, row = vary_order(tmp_path, AUDIT.replace("{then}", then))

    assert (found.result, row.result, row.value) == ("FAIL", result, "6 orders of a simulated loop")
    assert "audit() program.py:15 ran before move() program.py:11" in found.to_text()
    assert "next: twice explore " in found.to_text()


@pytest.mark.heavy
def test_tasks_that_share_nothing_stay_the_same_in_every_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)

    found, row = vary_order(tmp_path, CALM.replace("{more}", ""))

    assert (found.result, row.result) == ("PASS", "same")
    assert row.value == "newest first; 6 orders of a simulated loop"


@pytest.mark.heavy
def test_a_program_that_no_simulation_can_repeat_is_varied_in_its_own_loop_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    more = "import time\nasync def block():\n    time.sleep(0)\nasyncio.run(block())"

    found, row = vary_order(tmp_path, CALM.replace("{more}", more))

    assert (found.result, row.result, row.value) == ("PASS", "same", "newest first")


def test_a_program_without_tasks_has_no_order_of_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)

    found, row = vary_order(tmp_path, "print(1)\n")

    assert (found.result, row.result) == ("UNKNOWN", "unavailable")
