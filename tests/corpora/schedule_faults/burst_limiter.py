"""A client keeps to three calls per second. The counter lives in a shared store, as in a fleet of workers."""

import asyncio


class SharedCounter:
    def __init__(self):
        self.values = {}

    async def get(self, key):
        await asyncio.sleep(0)  # order: counter
        return self.values.get(key, 0)

    async def increment(self, key):
        await asyncio.sleep(0)
        self.values[key] = self.values.get(key, 0) + 1


class RateLimiter:
    def __init__(self, counter, limit, period):
        self.counter = counter
        self.limit = limit
        self.period = period

    async def __aenter__(self):
        loop = asyncio.get_running_loop()
        while True:
            window = int(loop.time() / self.period)
            if await self.counter.get(window) < self.limit:
                await self.counter.increment(window)
                return self
            await asyncio.sleep((window + 1) * self.period - loop.time())

    async def __aexit__(self, *_):
        return None


class Api:
    def __init__(self, limit):
        self.limit = limit
        self.calls = {}

    async def call(self, worker):
        window = int(asyncio.get_running_loop().time())
        calls = self.calls.setdefault(window, [])
        calls.append(worker)
        assert len(calls) <= self.limit, f"{len(calls)} calls in a second"


async def worker(number, limiter, api):
    for _ in range(3 * number):
        await asyncio.sleep(0)  # order: worker
    async with limiter:
        await api.call(number)


async def main():
    api = Api(3)
    limiter = RateLimiter(SharedCounter(), 3, 1.0)
    await asyncio.gather(*(worker(number, limiter, api) for number in range(4)))
