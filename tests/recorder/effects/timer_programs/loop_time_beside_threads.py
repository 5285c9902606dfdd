import asyncio
import time


def work(n):
    time.sleep(0.0005 * (n % 4))
    return n


async def main():
    loop = asyncio.get_running_loop()
    for _ in range(10):
        await asyncio.gather(*(asyncio.to_thread(work, n) for n in range(6)))
    print(loop.time())


asyncio.run(main())
