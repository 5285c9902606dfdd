import asyncio
import random

random.seed(3)


async def w(i, out):
    await asyncio.sleep(random.random() * 0.05)
    out.append(i)


async def main():
    out = []
    await asyncio.gather(*(w(i, out) for i in range(20)))
    print(out)


asyncio.run(main())
