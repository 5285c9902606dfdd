"""An order that fails comes again after an edit within the racing tasks, or is said to be unmet; none is lost silently."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any, cast

import pytest
from explored_programs import look

from twice.schedules.trial import Main
from twice.simulation.trace import Schedule, TracingLoop

EDITED = """
import asyncio

async def note(text):
    await asyncio.sleep(0)

async def main():
    left, right = 100, 100

    async def move():
        nonlocal left, right
        left -= 10
        await asyncio.sleep(1)
        right += 10

    async def audit():
        await asyncio.sleep(1)
        assert left + right == 200

    await asyncio.gather(move(), audit())
"""
MOVE, AUDIT = "        left -= 10\n", "    async def audit():\n"
INSIDE = {
    "a wait before the write": (MOVE, "        await note('a')\n" + MOVE),
    "a wait after the write": (MOVE, MOVE + "        await note('b')\n"),
    "two waits after the write": (MOVE, MOVE + "        await note('b')\n        await note('c')\n"),
    "a loop of waits": (MOVE, MOVE + "        for _ in range(3):\n            await note('d')\n"),
    "a wait that is the same text": (MOVE, "        await asyncio.sleep(0)\n" + MOVE),
    "a wait in the reader": (AUDIT, AUDIT + "        await note('e')\n"),
    "waits in both": (
        "        await asyncio.sleep(1)\n",
        "        await note('f')\n        await asyncio.sleep(1)\n",
    ),
    "lines that wait for nothing": (MOVE, "        pass\n        pass\n" + MOVE + "        pass\n"),
    "the wait in a condition": (
        "        await asyncio.sleep(1)\n        right",
        "        if left:\n            await asyncio.sleep(1)\n        right",
    ),
    "another length of the wait": (
        "await asyncio.sleep(1)\n        right", "await asyncio.sleep(2)\n        right",
    ),
    "the reader's wait written in two lines": (
        "await asyncio.sleep(1)\n        assert", "await asyncio.sleep(\n            1)\n        assert",
    ),
    "a function renamed": ("move()", "transfer()"),
    "the wait taken away": ("        await asyncio.sleep(1)\n        assert", "        assert"),
    "a wait at the end of the writer": ("right += 10\n", "right += 10\n        await note('h')\n"),
    "a name given to the wait": (
        "        await asyncio.sleep(1)\n        right", "        pause = asyncio.sleep(1)\n        await pause\n        right",
    ),
    "the write in a group": (
        "        await asyncio.sleep(1)\n        right",
        "        async with asyncio.timeout(9):\n            await asyncio.sleep(1)\n        right",
    ),
    "a task of its own before": (MOVE, "        await asyncio.create_task(note('i'))\n" + MOVE),
    "a wait for a thread's job": (MOVE, "        await asyncio.to_thread(len, 'j')\n" + MOVE),
    "a callback before": (MOVE, "        asyncio.get_running_loop().call_soon(len, 'k')\n" + MOVE),
}  # fmt: skip


def load(path: Path) -> Main:
    """Load the program of a file."""
    loaded: dict[str, Any] = {}
    exec(compile(path.read_text(), str(path), "exec"), loaded)
    return cast("Main", loaded["main"])


def edit(source: Path, old: str, new: str) -> tuple[bool, list[str]]:
    """Find the failure, edit the program, and return whether it fails in the found order, and what was unmet."""
    source.write_text(EDITED)
    (found,) = look(load(source)).found
    assert len(found.order.after) == 1
    edited = EDITED.replace(old, new)
    assert edited != EDITED

    source.write_text(edited)
    schedule = Schedule(after=found.order.after)
    try:
        with asyncio.Runner(loop_factory=lambda: TracingLoop(schedule)) as runner:
            runner.run(load(source)())
    except AssertionError:
        return True, schedule.list_unmet()
    return False, schedule.list_unmet()


@pytest.mark.parametrize("name", INSIDE)
@pytest.mark.sample(6)
def test_an_edit_within_a_racing_task_loses_no_failure_silently(name: str, tmp_path: Path):
    fails, unmet = edit(tmp_path / "edited.py", *INSIDE[name])

    assert fails or unmet


def test_a_wait_behind_the_named_step_moves_what_follows_out_of_the_order(tmp_path: Path):
    waits = "        await note('l')\n        assert left"

    assert edit(tmp_path / "edited.py", "        assert left", waits) == (False, [])


def test_an_order_by_counts_alone_is_still_followed(tmp_path: Path):
    source = tmp_path / "edited.py"
    source.write_text(EDITED)
    schedule = Schedule(after={"main/move#1": "main/audit#1"})

    with (
        pytest.raises(AssertionError),
        asyncio.Runner(loop_factory=lambda: TracingLoop(schedule)) as runner,
    ):
        runner.run(load(source)())

    assert not schedule.list_unmet()
