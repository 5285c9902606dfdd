"""Measurements are flushed in the background, by tasks that nobody keeps."""

import asyncio
import gc
import weakref


class Disk:
    """A disk whose writes end when the controller says so."""

    def __init__(self):
        self.blocks = []
        self.requests = asyncio.Queue()
        self.pending = 0
        self.idle = asyncio.Event()

    async def write(self, block):
        done = asyncio.get_running_loop().create_future()
        self.requests.put_nowait((block, Completion(done)))
        await done  # order: written
        self.blocks.append(block)
        self.pending -= 1
        if not self.pending:
            self.idle.set()


class Completion:
    """A handle that does not keep its future alive, as a binding to a C library would be."""

    def __init__(self, future):
        self.future = weakref.ref(future)

    def finish(self):
        future = self.future()
        if future is not None and not future.done():
            future.set_result(None)


class Measurements:
    def __init__(self, disk):
        self.disk = disk
        self.buffer = []

    def add(self, value):
        self.buffer.append(value)
        if len(self.buffer) == 2:
            block, self.buffer = tuple(self.buffer), []
            self.disk.pending += 1
            asyncio.create_task(self.disk.write(block))


async def controller(disk, blocks):
    for _ in range(blocks):
        _, completion = await disk.requests.get()
        await asyncio.sleep(0)
        completion.finish()  # order: finish


async def housekeeping():
    for _ in range(6):
        await asyncio.sleep(0)
    gc.collect()  # order: collect


async def main():
    disk = Disk()
    measurements = Measurements(disk)
    for value in range(4):
        measurements.add(value)
    await asyncio.gather(controller(disk, 2), housekeeping())
    await disk.idle.wait()
    assert sorted(disk.blocks) == [(0, 1), (2, 3)], disk.blocks
