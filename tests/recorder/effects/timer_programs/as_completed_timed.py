import asyncio
import random

random.seed(9)


async def w(i):
    await asyncio.sleep(0.005 * ((i * 5) % 7))
    return i


async def main():
    for f in asyncio.as_completed([w(i) for i in range(7)]):
        print(await f, end=" ")


asyncio.run(main())
