"""While a thread computes, the event loop counts its own turns; the count is printed."""
import asyncio


def compute():
    return sum(n * n % 7 for n in range(2_000_000))


async def main():
    job = asyncio.get_running_loop().run_in_executor(None, compute)
    turns = 0
    while not job.done():
        turns += 1
        await asyncio.sleep(0)
    print("sum", await job)
    print("turns meanwhile", turns)


asyncio.run(main())
