import asyncio
import random

random.seed(7)


async def w(i, out):
    await asyncio.sleep(random.random() * 0.02)
    out.append(i)


async def main():
    out = []
    async with asyncio.TaskGroup() as g:
        for i in range(12):
            g.create_task(w(i, out))
    print(out)


asyncio.run(main())
