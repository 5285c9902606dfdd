"""Keys survive edits, constraints make a schedule again, and a digest covers which task did what."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from simulations import Main, make_random, run_traced

from twice.foundation.seeds import Seed
from twice.simulation.order import Order
from twice.simulation.trace import Schedule, find_constraints

Steps = Callable[[], Any]


def make_ledger(extra: int = 0, noise: int = 0) -> Main:
    """Make a program whose audit reads between two writes in some orders; edits add tasks and waits elsewhere."""

    async def main() -> list[str]:
        told: list[str] = []

        async def chatter() -> None:
            for _ in range(3):
                await asyncio.sleep(0)

        async def deposit() -> None:
            told.append("taken")
            await asyncio.sleep(0)
            told.append("put")

        async def audit() -> None:
            for _ in range(2):
                await asyncio.sleep(0)
            told.append("audit")

        others = [asyncio.create_task(chatter()) for _ in range(extra)]
        tasks = [asyncio.create_task(deposit()), asyncio.create_task(audit())]
        for _ in range(noise):
            await asyncio.sleep(0)
        await asyncio.gather(*tasks, *others)
        return told

    return main


def find_schedule(wanted: list[str]) -> Schedule:
    for seed in range(200):
        schedule = make_random(seed, keeps_steps=True)
        if run_traced(make_ledger(), schedule) == wanted:
            return schedule
    raise AssertionError("no schedule does that")


WANTED = ["taken", "audit", "put"]


def test_keys_name_tasks_by_their_parents_and_coroutines():
    schedule = make_random(1, keeps_steps=True)

    run_traced(make_ledger(extra=2), schedule)

    keys = {step.key for step in schedule.steps}
    assert {"main#0", "main/deposit#0", "main/audit#2", "main/chatter:1#3"} <= keys
    places = {step.key: str(step.place) for step in schedule.steps}
    assert places["main/deposit#1"].startswith("test_trace.py:")


@pytest.mark.parametrize("seed", range(10))
def test_constraints_make_the_same_steps_again_from_fifo_order(seed: int):
    found = make_random(seed, keeps_steps=True)
    run_traced(make_ledger(extra=2), found)

    again = Schedule(after=find_constraints(found.steps), keeps_steps=True)
    run_traced(make_ledger(extra=2), again)

    assert [step.key for step in again.steps] == [step.key for step in found.steps]
    assert not again.unmet


@pytest.mark.parametrize("extra", range(20))
def test_a_constraint_survives_edits_elsewhere(extra: int):
    constraints = find_constraints(find_schedule(WANTED).steps)
    needed = {"main/deposit#1": "main/audit#2"}
    assert run_traced(make_ledger(), Schedule(after=needed)) == WANTED
    assert constraints

    assert run_traced(make_ledger(extra, noise=extra), Schedule(after=needed)) == WANTED


def test_a_constraint_whose_step_never_comes_is_unmet_and_holds_nothing_up():
    schedule = Schedule(after={"main/deposit#1": "main/withdraw#0"})

    assert run_traced(make_ledger(), schedule) == ["taken", "audit", "put"]
    assert schedule.unmet == ["main/deposit#1"]


def test_a_constraint_that_cannot_be_met_is_no_deadlock_where_a_timer_was_cancelled():
    done = []

    async def wait() -> None:
        await asyncio.sleep(1)
        done.append("waited")

    async def main() -> None:
        timer = asyncio.get_running_loop().call_later(60, print)
        task = asyncio.create_task(wait())
        await asyncio.sleep(2)
        timer.cancel()
        await task

    schedule = Schedule(after={"main/wait#1": "main/never#0"})
    run_traced(main, schedule)

    assert done == ["waited"]
    assert schedule.unmet == ["main/wait#1"]


@pytest.mark.parametrize("interval", [0, 1])
def test_a_constraint_that_cannot_be_met_ends_though_a_heartbeat_goes_on(interval: float):
    beats = []

    async def beat() -> None:
        while True:
            await asyncio.sleep(interval)
            beats.append("alive")

    async def work() -> str:
        await asyncio.sleep(0)
        return "worked"

    async def main() -> str:
        beating = asyncio.create_task(beat())
        try:
            return await asyncio.create_task(work())
        finally:
            beating.cancel()

    schedule = Schedule(after={"main/work#1": "main/never#0"})

    assert run_traced(main, schedule) == "worked"
    assert schedule.unmet == ["main/work#1"]


def test_digests_differ_where_only_the_task_differs():
    async def swap(first: str, second: str) -> list[str]:
        told: list[str] = []

        async def left() -> None:
            told.append("left")

        async def right() -> None:
            told.append("right")

        made = {"left": left, "right": right}
        await asyncio.gather(made[first](), made[second]())
        return told

    digests = set()
    for first, second in (("left", "right"), ("right", "left")):
        schedule = Schedule()
        run_traced(lambda: swap(first, second), schedule)
        digests.add(schedule.digest())

    assert len(digests) == 2


def test_two_loops_of_one_schedule_go_on_in_time():
    schedule = make_random(3)

    async def main() -> float:
        await asyncio.sleep(2)
        return asyncio.get_running_loop().time()

    assert [run_traced(main, schedule) for _ in range(2)] == [2, 4]


def test_an_order_is_a_function_of_the_seed():
    def trace(order: Order, seed: int) -> list[str]:
        schedule = Schedule.make(order, Seed(seed), keeps_steps=True)
        run_traced(make_ledger(extra=3), schedule)
        return [step.key for step in schedule.steps]

    assert trace(Order(), 1) == trace(Order(), 1)
    assert trace(Order(), 1) != trace(Order(), 2)
    assert trace(Order(), 1) != trace(Order(number=1), 1)
    assert trace(Order("fifo"), 1) == trace(Order("fifo"), 2)
