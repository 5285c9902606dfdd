import asyncio
import random

random.seed(1)


async def worker(name, q, out):
    while True:
        job = await q.get()
        await asyncio.sleep(random.random() * 0.01)
        out.append((name, job))
        q.task_done()


async def main():
    q = asyncio.Queue()
    out = []
    for i in range(24):
        q.put_nowait(i)
    ws = [asyncio.create_task(worker(k, q, out)) for k in "abc"]
    await q.join()
    for w in ws:
        w.cancel()
    await asyncio.gather(*ws, return_exceptions=True)
    print(out)


asyncio.run(main())
