"""Jobs that would run in threads: they run as steps, and what they wait for takes virtual time."""

from __future__ import annotations

import asyncio
import queue
import time

import anyio
import pytest
from simulations import run_fast

import twice
from twice.errors import SimulationRefused


def test_worker_threads_of_anyio_run_as_steps():
    async def main() -> tuple[list[int], float]:
        found: list[int] = []

        async def work(number: int) -> None:
            found.append(await anyio.to_thread.run_sync(nap, number))

        async with anyio.create_task_group() as group:
            for number in range(3):
                group.start_soon(work, number)
        return sorted(found), asyncio.get_running_loop().time()

    def nap(number: int) -> int:
        time.sleep(10)
        return number

    assert run_fast(main) == ([0, 1, 2], 10)


def test_waiting_in_a_job_takes_the_time_of_its_timeout():
    async def main() -> float:
        with pytest.raises(queue.Empty):
            await asyncio.to_thread(queue.Queue().get, timeout=5)
        return asyncio.get_running_loop().time()

    assert twice.simulate(main, seed=1) == pytest.approx(5)


def test_waiting_in_a_job_for_nobody_ends_the_program_and_is_no_deadlock():
    async def main() -> None:
        asyncio.get_running_loop().run_in_executor(None, queue.Queue().get)
        await asyncio.Event().wait()

    with pytest.raises(SimulationRefused, match=r"threading\.Condition\.wait"):
        run_fast(main)


def test_a_job_reports_after_it_has_slept():
    async def main() -> float:
        loop, done = asyncio.get_running_loop(), asyncio.Event()

        def work() -> None:
            time.sleep(3)
            loop.call_soon_threadsafe(done.set)

        job = asyncio.to_thread(work)
        task = asyncio.create_task(job)
        await done.wait()
        await task
        return loop.time()

    assert run_fast(main) == 3
