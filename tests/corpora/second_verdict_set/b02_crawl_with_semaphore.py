"""A polite crawler over a made-up site: queue, semaphore, context variables, cancellation."""
import asyncio
import contextvars
import random

depth = contextvars.ContextVar("depth", default=0)
SITE = {"/": ["/a", "/b"], "/a": ["/c", "/d"], "/b": ["/d", "/e"], "/c": [], "/d": ["/"], "/e": ["/f"], "/f": []}


async def fetch(page, gate):
    async with gate:
        await asyncio.sleep(0.02)
        return SITE[page]


async def worker(number, queue, seen, gate, report):
    while True:
        page, level = await queue.get()
        depth.set(level)
        for link in await fetch(page, gate):
            if link not in seen:
                seen[link] = depth.get() + 1
                await queue.put((link, level + 1))
        report.append((number, page, depth.get()))
        queue.task_done()


async def main():
    gate, queue, seen, report = asyncio.Semaphore(2), asyncio.Queue(), {"/": 0}, []
    await queue.put(("/", 0))
    workers = [asyncio.create_task(worker(n, queue, seen, gate, report)) for n in range(3)]
    await queue.join()
    for task in workers:
        task.cancel()
    ended = await asyncio.gather(*workers, return_exceptions=True)
    print(report)
    print(seen, [type(e).__name__ for e in ended])
    print("outside:", depth.get(), "lucky page:", random.choice(sorted(seen)))


asyncio.run(main())
