"""A body that is made while it is sent, and bodies that are read in pieces, with their digests."""

import asyncio
import hashlib
import os
import sys

import aiohttp


async def parts(digest):
    for _ in range(20):
        part = os.urandom(3000)
        digest.update(part)
        yield part
        await asyncio.sleep(0)


async def main():
    async with aiohttp.ClientSession(f"http://127.0.0.1:{sys.argv[1]}") as session:
        for name in ("north", "south"):
            own = hashlib.sha256()
            async with session.post(f"/digest?{name}", data=parts(own)) as answer:
                print(
                    name, (await answer.json())["sha256"] == own.hexdigest(), own.hexdigest()[:12]
                )
        sizes = []
        async with session.get("/bytes") as answer:
            digest = hashlib.sha256()
            async for piece in answer.content.iter_chunked(4096):
                sizes.append(len(piece))
                digest.update(piece)
        print(sum(sizes), digest.hexdigest())


asyncio.run(main())
