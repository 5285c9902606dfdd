"""Uploads spawn jobs for thumbnails, one at a time, and one may wait (aio-libs/aiojobs#98)."""

import asyncio

import aiojobs


class Gallery:
    def __init__(self, scheduler):
        self.scheduler = scheduler
        self.thumbnails = []

    async def make_thumbnail(self, name):
        for _ in range(2):
            await asyncio.sleep(0)  # order: thumbnail
        self.thumbnails.append(name)

    async def upload(self, name, hops):
        for _ in range(hops):
            await asyncio.sleep(0)  # order: upload
        await self.scheduler.spawn(self.make_thumbnail(name))
        return name


async def main():
    scheduler = await aiojobs.create_scheduler(limit=1, pending_limit=1)
    gallery = Gallery(scheduler)
    names = ["cat", "dog", "cow"]
    await asyncio.gather(*(gallery.upload(name, 6 * number) for number, name in enumerate(names)))
    while len(gallery.thumbnails) < len(names):
        jobs = list(scheduler)
        await asyncio.gather(*(job.wait() for job in jobs))
    await scheduler.close()
