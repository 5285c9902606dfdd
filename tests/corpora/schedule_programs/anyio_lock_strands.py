"""anyio 4.13.0, pull request 1145: a waiter that is cancelled while the lock is released strands the next one."""

from __future__ import annotations

import asyncio

import anyio


async def main() -> None:
    """End in a deadlock if nobody wakes the second waiter."""
    lock = anyio.Lock()

    async def use(since_s: float, for_s: float) -> None:
        await asyncio.sleep(since_s)
        async with lock:
            await asyncio.sleep(for_s)

    async def give_up(waiter: asyncio.Task[None]) -> None:
        await asyncio.sleep(2)
        waiter.cancel()

    waiter = asyncio.create_task(use(1, 0))
    await asyncio.gather(use(0, 2), use(2, 0), give_up(waiter), waiter, return_exceptions=True)
