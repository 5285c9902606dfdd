"""aiojobs, aiostream and asyncstdlib: jobs, streams and caches."""

import asyncio

import aiojobs
import asyncstdlib as a
from aiostream import pipe, stream


async def main():
    out = []

    async def job(n):
        await asyncio.sleep(1)
        out.append(n)

    async with aiojobs.Scheduler(limit=2) as s:
        for n in range(5):
            await s.spawn(job(n))
        await s.wait_and_close()

    async def amul(x):
        return await asyncio.sleep(0.3, x * 2)

    async def agen():
        for n in range(6):
            await asyncio.sleep(0.1)
            yield n

    got = await (stream.iterate(agen()) | pipe.map(amul, task_limit=3) | pipe.list())
    merged = await stream.list(stream.merge(agen(), agen()))
    lru = a.lru_cache(maxsize=4)(lambda n: asyncio.sleep(1, n))
    z = [x async for x in a.zip(agen(), agen())]
    return sorted(out), got, sorted(merged), await asyncio.gather(lru(1), lru(1)), z
