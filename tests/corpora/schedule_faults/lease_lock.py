"""Printers share one device. A job waits a while for the lock and reports if it could not print."""

import asyncio


class Device:
    def __init__(self):
        self.lock = asyncio.Lock()
        self.using = set()
        self.pages = []

    async def print_page(self, job, page):
        self.using.add(job)
        assert len(self.using) == 1, f"{sorted(self.using)} print at once"
        await asyncio.sleep(0.5)  # order: page
        self.pages.append((job, page))
        self.using.discard(job)


class Spooler:
    def __init__(self, device, patience):
        self.device = device
        self.patience = patience
        self.refused = []

    async def print(self, job, pages):
        lock = self.device.lock
        try:
            await asyncio.wait_for(lock.acquire(), self.patience)  # order: patience
            for page in range(pages):
                await self.device.print_page(job, page)
        except asyncio.TimeoutError:
            self.refused.append(job)
        finally:
            if lock.locked():
                lock.release()


async def main():
    spooler = Spooler(Device(), patience=1.0)
    first = asyncio.create_task(spooler.print("report", 2))
    second = asyncio.create_task(spooler.print("letter", 1))
    third = asyncio.create_task(spooler.print("label", 1))
    await asyncio.gather(first, second, third)
    printed = {job for job, _ in spooler.device.pages}
    assert printed | set(spooler.refused) == {"report", "letter", "label"}
