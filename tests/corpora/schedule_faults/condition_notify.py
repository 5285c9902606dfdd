"""Workers wait on a condition for jobs. One of them is cancelled as a job comes (python/cpython#112202)."""

import asyncio


class Jobs:
    def __init__(self):
        self.jobs = []
        self.changed = asyncio.Condition()

    async def add(self, job):
        async with self.changed:
            self.jobs.append(job)
            self.changed.notify(1)

    async def take(self):
        async with self.changed:
            await self.changed.wait_for(lambda: self.jobs)  # order: taken
            return self.jobs.pop(0)


class Pool:
    def __init__(self, size):
        self.jobs = Jobs()
        self.finished = asyncio.Queue()
        self.workers = [asyncio.create_task(self.work(number)) for number in range(size)]

    async def work(self, number):
        while True:
            job = await self.jobs.take()
            if job is None:
                return
            self.finished.put_nowait((number, job))

    async def shrink(self):
        worker = self.workers.pop(0)
        worker.cancel()
        await asyncio.gather(worker, return_exceptions=True)


async def scale_down(pool):
    for _ in range(8):
        await asyncio.sleep(0)  # order: scale
    await pool.shrink()


async def main():
    pool = Pool(2)
    await asyncio.sleep(0)
    scaling = asyncio.create_task(scale_down(pool))
    await pool.jobs.add("resize image")
    _, job = await pool.finished.get()
    assert job == "resize image"
    await scaling
    for worker in pool.workers:
        worker.cancel()
