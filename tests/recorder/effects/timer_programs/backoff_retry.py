import asyncio
import random

random.seed(11)


async def flaky(n):
    await asyncio.sleep(0.001)
    if random.random() < 0.6:
        raise OSError(n)
    return n


async def retry(i):
    for k in range(8):
        try:
            return i, k, await flaky(i)
        except OSError:
            await asyncio.sleep(0.002 * 2 ** min(k, 3) * random.random())
    return i, "gave up"


async def main():
    print(await asyncio.gather(*(retry(i) for i in range(6))))


asyncio.run(main())
