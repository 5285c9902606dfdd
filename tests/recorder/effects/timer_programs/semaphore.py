import asyncio
import random

random.seed(5)


async def use(s, i, out):
    async with s:
        out.append(("in", i))
        await asyncio.sleep(random.random() * 0.01)
        out.append(("out", i))


async def main():
    s = asyncio.Semaphore(3)
    out = []
    await asyncio.gather(*(use(s, i, out) for i in range(15)))
    print(out)


asyncio.run(main())
