"""A deadlock says where each task waits, what nobody does, and who did something like it before."""

from __future__ import annotations

import asyncio
import re
import weakref
from asyncio import locks, queues
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from twice.errors import Deadlock
from twice.simulation.trace import Schedule, TracingLoop


def find_deadlock(main: Callable[[], Coroutine[Any, Any, None]]) -> list[str]:
    """Run a program that ends in a deadlock, and return its lines without their places in this file."""
    with (
        pytest.raises(Deadlock) as caught,
        asyncio.Runner(loop_factory=lambda: TracingLoop(Schedule())) as runner,
    ):
        runner.run(main())
    lines = caught.value.happened.splitlines()[1:]
    assert all("test_waits.py:" in line for line in lines)
    return [re.sub(r" at test_waits\.py:\d+", "", line) for line in lines]


def test_who_holds_a_lock_is_named_with_the_line_at_which_it_was_taken():
    async def main() -> None:
        lock = asyncio.Lock()

        async def hold() -> None:
            await lock.acquire()

        await hold()
        async with lock:
            pass

    assert find_deadlock(main) == ["main waits in Lock.acquire for main (acquired)"]


def test_who_has_acquired_a_semaphore_and_not_released_it_is_named_by_its_lineage():
    async def main() -> None:
        places = asyncio.Semaphore(2)

        async def keep() -> None:
            await places.acquire()

        async def give_back() -> None:
            async with places:
                await asyncio.sleep(0)

        async with asyncio.TaskGroup() as group:
            for each in (keep, give_back, keep, give_back):
                group.create_task(each())

    (first, second) = find_deadlock(main)
    assert first.startswith("main waits in TaskGroup.__aexit__")
    assert second == (
        "main/give_back:1 waits in Semaphore.acquire for main/keep (acquired), main/keep:1 (acquired)"
    )


def test_another_task_may_release_what_the_first_one_took():
    async def main() -> None:
        places = asyncio.BoundedSemaphore(1)
        await asyncio.create_task(places.acquire(), name="borrower")
        await asyncio.create_task(asyncio.sleep(0))
        places.release()
        await places.acquire()
        await places.acquire()

    assert find_deadlock(main) == ["main waits in Semaphore.acquire for main (acquired)"]


def test_nobody_is_blamed_where_nobody_is_known():
    async def main() -> None:
        condition, event, barrier = asyncio.Condition(), asyncio.Event(), asyncio.Barrier(2)

        async def wait_for_notice() -> None:
            async with condition:
                await condition.wait_for(lambda: False)

        async def wait_for_event() -> None:
            await event.wait()

        async def wait_at_barrier() -> None:
            await barrier.wait()

        async with asyncio.TaskGroup() as group:
            for each in (wait_for_notice, wait_for_event, wait_at_barrier):
                group.create_task(each())

    assert find_deadlock(main)[1:] == [
        "main/wait_for_notice waits in Condition.wait: nobody notifies it",
        "main/wait_for_event waits in Event.wait: nobody sets it",
        "main/wait_at_barrier waits in Barrier.wait: nobody else comes to it",
    ]


def test_who_has_used_a_queue_before_is_named():
    async def main() -> None:
        empty: asyncio.Queue[int] = asyncio.Queue()
        full: asyncio.Queue[int] = asyncio.Queue(1)

        async def produce() -> None:
            await empty.put(1)

        async def consume() -> None:
            while True:
                await empty.get()

        async def fill() -> None:
            full.put_nowait(1)
            await full.put(2)

        async with asyncio.TaskGroup() as group:
            for each in (produce, consume, fill, empty.join):
                group.create_task(each())

    waits = find_deadlock(main)[1:3]
    assert waits == [
        "main/consume waits in Queue.get: nobody puts after main/produce (put)",
        "main/fill waits in Queue.put: nobody gets",
    ]


def test_a_queue_that_is_joined_says_who_has_got_from_it():
    async def main() -> None:
        queue: asyncio.Queue[int] = asyncio.Queue()
        queue.put_nowait(1)
        queue.get_nowait()
        await queue.join()

    assert find_deadlock(main) == [
        "main waits in Queue.join: nobody calls task_done() after main (got)"
    ]


def test_a_task_that_used_a_queue_can_be_collected_and_its_name_is_known_still():
    kept: list[weakref.ref[asyncio.Task[None]]] = []

    async def main() -> None:
        queue: asyncio.Queue[int] = asyncio.Queue()
        task = asyncio.create_task(queue.put(1), name="giver")
        kept.append(weakref.ref(task))
        await task
        del task
        await queue.get()
        await asyncio.sleep(0)
        assert kept[0]() is None
        await queue.get()

    assert find_deadlock(main) == ["main waits in Queue.get: nobody puts after Queue.put (giver)"]


def test_the_functions_of_asyncio_are_what_they_were_afterwards():
    before = [locks.Lock.acquire, locks.Semaphore.release, queues.Queue.put_nowait]

    async def main() -> None:
        await asyncio.Event().wait()

    find_deadlock(main)

    assert [locks.Lock.acquire, locks.Semaphore.release, queues.Queue.put_nowait] == before
