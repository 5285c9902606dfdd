"""What each strategy promises of its picks."""

from __future__ import annotations

import asyncio
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from twice.errors import ScheduleRefused
from twice.foundation.seeds import Seed
from twice.simulation.loop import SimulatedLoop
from twice.simulation.order import STRATEGIES, Order
from twice.simulation.strategies import DelayBounded, PriorityPicks, make_strategy


def run(strategy: Any, tasks: int = 3, steps: int = 2) -> tuple[str, ...]:
    async def main() -> tuple[str, ...]:
        told: list[str] = []

        async def work(name: str) -> None:
            for _ in range(steps):
                told.append(name)
                await asyncio.sleep(0)

        await asyncio.gather(*(work(name) for name in "abcdefgh"[:tasks]))
        return tuple(told)

    with asyncio.Runner(loop_factory=lambda: SimulatedLoop(strategy)) as runner:
        return runner.run(main())


def run_all(delays: int, *, tasks: int = 3, steps: int = 2) -> list[tuple[str, ...]]:
    strategy = DelayBounded(delays)
    found = [run(strategy, tasks, steps)]
    while strategy.go_on():
        found.append(run(strategy, tasks, steps))
    return found


def test_no_delays_is_fifo():
    assert run_all(0) == [("a", "b", "c") * 2]


def test_more_delays_reach_more_orders_and_each_schedule_once():
    reached = [set(run_all(delays)) for delays in range(4)]

    assert all(fewer < more for fewer, more in pairwise(reached))


def test_enough_delays_reach_every_order_of_two_tasks():
    orders = set(run_all(20, tasks=2, steps=2))

    assert orders == {tuple(each) for each in ("aabb", "abab", "abba", "baab", "baba", "bbaa")}


def test_a_task_with_the_highest_priority_goes_on_alone():
    orders = {run(PriorityPicks(Seed(seed), 1, 20), tasks=2, steps=3) for seed in range(20)}

    assert orders == {("a",) * 3 + ("b",) * 3, ("b",) * 3 + ("a",) * 3}


def test_changes_of_priority_let_others_in_between():
    orders = {run(PriorityPicks(Seed(seed), 3, 8), tasks=2, steps=3) for seed in range(60)}

    assert len(orders) > 4


@given(st.sampled_from(STRATEGIES), st.integers(0, 50), st.integers(0, 2**64))
def test_a_strategy_of_a_seed_picks_the_same_again(name: str, number: int, seed: int):
    order = Order(name, number)

    orders = {run(make_strategy(name, Seed(seed), number, order.steps)) for _ in range(2)}

    assert len(orders) == 1
    assert Order.from_json(order.to_json()) == order


@pytest.mark.parametrize(
    "data",
    [None, {}, {"strategy": "x", "number": 0, "steps": 1, "after": {}},
     {"strategy": "fifo", "number": "x", "steps": 1, "after": {}},
     {"strategy": "fifo", "number": 0, "steps": 1, "after": {"a": 1}},
     {"strategy": "fifo", "number": 0, "steps": 1, "after": 3}],
)  # fmt: skip
def test_an_order_that_is_none_is_refused(data: object):
    with pytest.raises(ScheduleRefused, match="is not the order"):
        Order.from_json(data)


def test_a_task_that_goes_round_until_another_one_ran_does_not_go_round_for_ever():
    async def main() -> None:
        done = False

        async def spin() -> None:
            while not done:  # noqa: ASYNC110
                await asyncio.sleep(0)

        async def end() -> None:
            nonlocal done
            done = True

        await asyncio.gather(spin(), end())

    for seed in range(20):
        loop = SimulatedLoop(PriorityPicks(Seed(seed), 2, 10))
        with asyncio.Runner(loop_factory=lambda loop=loop: loop) as runner:
            runner.run(main())
        assert loop.steps < 2000
