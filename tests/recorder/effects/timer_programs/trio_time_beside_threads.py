import time

import trio


def work(n):
    time.sleep(0.0005 * (n % 4))
    return n


async def main():
    for _ in range(10):
        async with trio.open_nursery() as nursery:
            for n in range(6):
                nursery.start_soon(trio.to_thread.run_sync, work, n)
    print(trio.current_time())


trio.run(main)
