import asyncio
import time


async def w(i, out):
    for k in range(5):
        t = time.perf_counter()
        await asyncio.sleep(0.002 * (1 + i % 3))
        out.append((i, k, round(time.perf_counter() - t, 6)))


async def main():
    out = []
    await asyncio.gather(*(w(i, out) for i in range(5)))
    print(out)


asyncio.run(main())
