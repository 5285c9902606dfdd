"""Downloads take one of two slots. A download that the user cancels gives its slot back."""

import asyncio


class Downloader:
    def __init__(self, slots):
        self.slots = asyncio.Semaphore(slots)
        self.done = []

    async def resolve(self, name):
        await asyncio.sleep(0)  # order: resolve
        return f"10.0.0.{len(name)}"

    async def fetch(self, address):
        for _ in range(2):
            await asyncio.sleep(0)
        return b"data from " + address.encode()

    async def download(self, name):
        await self.slots.acquire()
        address = await self.resolve(name)
        try:
            data = await self.fetch(address)
            self.done.append((name, len(data)))
        finally:
            self.slots.release()


async def user(tasks):
    for _ in range(3):
        await asyncio.sleep(0)  # order: cancels
    for task in tasks:
        task.cancel()


async def main():
    downloader = Downloader(2)
    unwanted = [asyncio.create_task(downloader.download(f"advert{i}")) for i in range(2)]
    await asyncio.gather(user(unwanted), *unwanted, return_exceptions=True)
    await asyncio.gather(*(downloader.download(f"page{i}") for i in range(4)))
    assert len(downloader.done) >= 4
