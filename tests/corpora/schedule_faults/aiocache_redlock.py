"""A report is computed under a lock of the cache, by whoever asks first (aio-libs/aiocache#979)."""

import asyncio

from aiocache import SimpleMemoryCache
from aiocache.lock import RedLock


class RemoteCache(SimpleMemoryCache):
    """A cache on another machine: an answer takes its time."""

    async def _add(self, key, value, ttl=None, _conn=None):
        await asyncio.sleep(0)
        try:
            return await super()._add(key, value, ttl=ttl)
        finally:
            await asyncio.sleep(0)  # order: added

    async def _redlock_release(self, key, value):
        await asyncio.sleep(0)
        removed = await super()._redlock_release(key, value)
        await asyncio.sleep(0)  # order: released
        return removed


class Reports:
    def __init__(self):
        self.cache = RemoteCache()
        self.computed = 0

    async def get(self, name):
        async with RedLock(self.cache, name, lease=30):
            report = await self.cache.get(name)
            if report is None:
                self.computed += 1
                await asyncio.sleep(0)
                report = f"report {name}"
                await self.cache.set(name, report)
        return report


async def visitor(reports, hops):
    for _ in range(hops):
        await asyncio.sleep(0)  # order: visitor
    return await reports.get("sales")


async def main():
    RedLock._EVENTS.clear()
    reports = Reports()
    answers = await asyncio.gather(visitor(reports, 0), visitor(reports, 20))
    assert answers == ["report sales"] * 2
