"""Steps in virtual time, one at a time, in a chosen order."""

from __future__ import annotations

import asyncio
import math
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from simulations import make_random, run_fast, run_traced

from twice.errors import Deadlock, Livelock, SimulationRefused
from twice.simulation.loop import SimulatedLoop


async def lose_updates() -> list[str]:
    told: list[str] = []

    async def work(name: str) -> None:
        for n in range(3):
            told.append(f"{name}{n}")
            await asyncio.sleep(0)

    await asyncio.gather(*(work(name) for name in "abc"))
    return told


def test_time_passes_only_for_timers_and_costs_nothing():
    async def main() -> tuple[float, list[str]]:
        told: list[str] = []

        async def sleep(seconds: float, name: str) -> None:
            await asyncio.sleep(seconds)
            told.append(name)

        began = time.perf_counter()
        await asyncio.gather(sleep(86_400, "a day"), sleep(0.1, "first"), sleep(60, "a minute"))
        assert time.perf_counter() - began < 86_400
        return asyncio.get_running_loop().time(), told

    assert run_fast(main) == (86_400, ["first", "a minute", "a day"])


def test_without_a_strategy_the_order_is_that_of_asyncio():
    assert run_fast(lose_updates) == asyncio.run(lose_updates())


def test_a_seed_has_one_order_and_seeds_have_several():
    orders = [tuple(run_fast(lose_updates, seed)) for seed in range(20)]

    assert orders == [tuple(run_fast(lose_updates, seed)) for seed in range(20)]
    assert len(set(orders)) > 10


@pytest.mark.parametrize("seed", range(5))
def test_the_loop_that_traces_makes_the_same_steps(seed: int):
    assert run_traced(lose_updates, make_random(seed)) == run_fast(lose_updates, seed)


def test_a_timeout_ends_a_wait_at_its_time():
    async def main() -> float:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(5):
                await asyncio.sleep(math.inf)
        return asyncio.get_running_loop().time()

    assert run_fast(main) == 5


def test_cancelled_timers_are_forgotten_and_move_no_time():
    async def main() -> float:
        loop = asyncio.get_running_loop()
        for _ in range(1000):
            loop.call_later(1000, print).cancel()
        await asyncio.sleep(1)
        assert isinstance(loop, SimulatedLoop)
        assert len(loop._scheduled) < 200
        return loop.time()

    assert run_fast(main) == 1


def test_tasks_that_wait_for_each_other_are_named_with_the_locks_and_their_holders():
    async def main() -> None:
        left, right = asyncio.Lock(), asyncio.Lock()

        async def take(first: asyncio.Lock, second: asyncio.Lock) -> None:
            async with first:
                await asyncio.sleep(1)
                async with second:
                    pass

        await asyncio.gather(take(left, right), take(right, left))

    with pytest.raises(Deadlock) as caught:
        run_traced(main, make_random(0))

    waits: Any = caught.value.fields["waits"]
    assert [wait["within"] for wait in waits] == ["", "Lock.acquire", "Lock.acquire"]
    assert waits[1]["waits_for"].startswith("main/take:1 (acquired at test_simulated_loop.py:")
    assert "Lock.acquire" in str(caught.value)
    assert "test_simulated_loop.py" in str(caught.value)


def test_steps_without_time_between_them_end_after_many():
    async def main() -> None:
        loop = asyncio.get_running_loop()
        assert isinstance(loop, SimulatedLoop)
        loop.steps_at_one_time_max = 500
        while True:  # noqa: ASYNC110
            await asyncio.sleep(0)

    with pytest.raises(Livelock, match="500 steps"):
        run_fast(main)


def test_a_job_runs_inline_and_its_sleep_delays_the_result_alone():
    async def main() -> tuple[list[str], float]:
        loop = asyncio.get_running_loop()
        told: list[str] = []

        def work() -> str:
            time.sleep(2)
            return "job"

        async def tell(seconds: float) -> None:
            await asyncio.sleep(seconds)
            told.append(f"after {seconds}")

        with ThreadPoolExecutor() as pool:
            beside = asyncio.create_task(tell(1))
            told.append(await loop.run_in_executor(pool, work))
        await beside
        with pytest.raises(ZeroDivisionError):
            await asyncio.to_thread(lambda: 1 // 0)
        return told, loop.time()

    assert run_fast(main) == (["after 1", "job"], 2)


def test_signals_arrive_where_they_are_delivered_and_nowhere_else():
    async def main() -> list[str]:
        loop = asyncio.get_running_loop()
        assert isinstance(loop, SimulatedLoop)
        told: list[str] = []
        loop.add_signal_handler(signal.SIGTERM, told.append, "term")
        loop.deliver_signal(signal.SIGTERM)
        assert told == []
        await asyncio.sleep(0)
        assert loop.remove_signal_handler(signal.SIGTERM)
        assert not loop.remove_signal_handler(signal.SIGTERM)
        with pytest.raises(SimulationRefused, match="no handler"):
            loop.deliver_signal(signal.SIGTERM)
        return told

    assert run_fast(main) == ["term"]


def test_a_loop_within_a_loop_is_refused_as_asyncio_does():
    async def main() -> None:
        inner = lose_updates()
        try:
            asyncio.run(inner)
        finally:
            inner.close()

    with pytest.raises(RuntimeError, match="running event loop"):
        run_fast(main)


def test_a_closed_loop_takes_no_steps():
    loop = SimulatedLoop()
    loop.close()

    for call in (
        lambda: loop.call_soon(print),
        lambda: loop.call_later(1, print),
        loop.run_forever,
    ):
        with pytest.raises(RuntimeError, match="closed"):
            call()


def test_names_of_tasks_begin_anew_with_each_loop():
    async def main() -> list[str]:
        tasks = [asyncio.create_task(asyncio.sleep(0)) for _ in range(2)]
        named = asyncio.create_task(asyncio.sleep(0), name="mine")
        await asyncio.wait([*tasks, named])
        return [task.get_name() for task in (*tasks, named)]

    assert run_fast(main) == run_fast(main)
    assert run_fast(main)[-1] == "mine"


def test_after_a_run_asyncio_is_what_it_was():
    names = [asyncio.as_completed, asyncio.all_tasks, time.sleep, asyncio.Lock.acquire]

    run_fast(lose_updates)
    run_traced(lose_updates, make_random(0))

    assert [asyncio.as_completed, asyncio.all_tasks, time.sleep, asyncio.Lock.acquire] == names
