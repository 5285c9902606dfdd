"""CPython 3.11, issue 86296: ``wait_for`` returns a value and forgets that its task was cancelled."""

from __future__ import annotations

import asyncio


async def main() -> None:
    """End in a deadlock if the worker goes on after it was told to stop."""
    jobs: asyncio.Queue[int] = asyncio.Queue()
    done = []

    async def work() -> None:
        while True:
            done.append(await asyncio.wait_for(jobs.get(), timeout=None if done else 60))

    async def produce() -> None:
        await asyncio.sleep(0.5)
        await asyncio.sleep(0.5)
        jobs.put_nowait(1)

    async def stop(worker: asyncio.Task[None]) -> None:
        await asyncio.sleep(1)
        worker.cancel()
        await asyncio.gather(worker, return_exceptions=True)

    worker = asyncio.create_task(work())
    await asyncio.gather(produce(), stop(worker))
