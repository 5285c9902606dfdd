"""Four programs over sets of tasks, which go different ways by the addresses of their tasks.

As a script: run each once, after as much junk on the heap as the argument says, and print what they return.
"""

from __future__ import annotations

import asyncio
import sys


async def first_of_wait() -> str:
    """Cancel what ``wait`` hands out as pending, in its order."""
    told: list[str] = []

    async def work(name: str) -> None:
        try:
            await asyncio.sleep(1 if name == "quick" else 100)
        except asyncio.CancelledError:
            told.append(name)
            raise

    tasks = [asyncio.create_task(work(name)) for name in ("quick", *"abcdefgh")]
    _, pending = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    for task in pending:
        task.cancel()
    await asyncio.gather(*pending, return_exceptions=True)
    return "".join(told)


async def completed_together() -> str:
    """Take what ends at one time in the order of ``as_completed``."""

    async def work(name: str) -> str:
        await asyncio.sleep(1)
        return name

    return "".join([await each for each in asyncio.as_completed(map(work, "abcdefgh"))])


async def aborted_group() -> str:
    """Note the order in which a group cancels its tasks."""
    told: list[str] = []

    async def work(name: str) -> None:
        try:
            await asyncio.sleep(100)
        finally:
            told.append(name)

    async def fail() -> None:
        await asyncio.sleep(1)
        raise ValueError

    try:
        async with asyncio.TaskGroup() as group:
            for name in "abcdefgh":
                group.create_task(work(name))
            group.create_task(fail())
    except* ValueError:
        pass
    return "".join(told)


async def all_of_them() -> str:
    """Cancel everything that ``all_tasks`` names."""
    told: list[str] = []

    async def work(name: str) -> None:
        try:
            await asyncio.sleep(100)
        finally:
            told.append(name)

    held = [asyncio.create_task(work(name)) for name in "abcdefgh"]
    await asyncio.sleep(1)
    for task in asyncio.all_tasks() - {asyncio.current_task()}:
        task.cancel()
    await asyncio.wait(held)
    return "".join(told)


PROGRAMS = (first_of_wait, completed_together, aborted_group, all_of_them)

if __name__ == "__main__":
    junk = [object() for _ in range(int(sys.argv[1]) * 37)]
    from twice.simulation.loop import SimulatedLoop

    for program in PROGRAMS:
        with asyncio.Runner(loop_factory=SimulatedLoop) as runner:
            print(program.__name__, runner.run(program()))
