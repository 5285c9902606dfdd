import asyncio
import time


def job(i):
    time.sleep(0.004 * (i % 3))
    return i * i


async def tick(out):
    for k in range(10):
        await asyncio.sleep(0.002)
        out.append(k)


async def main():
    loop = asyncio.get_running_loop()
    out = []
    t = asyncio.create_task(tick(out))
    got = await asyncio.gather(*(loop.run_in_executor(None, job, i) for i in range(6)))
    await t
    print(got, out)


asyncio.run(main())
