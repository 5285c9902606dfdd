"""A service outside fails two times of three; six tasks try again with jitter, and a breaker counts. (serve)"""
import asyncio
import os
import random
import sys

import aiohttp
from aiohttp import web

PORT = 47214


async def serve():
    calls = 0

    async def answer(request):
        nonlocal calls
        calls += 1
        if calls % 3:
            return web.Response(status=500 + calls % 3, headers={"Retry-After": "0"})
        return web.json_response({"item": request.match_info["item"], "call": calls})

    application = web.Application()
    application.router.add_get("/{item}", answer)
    runner = web.AppRunner(application)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", PORT).start()
    open("ready", "w").close()
    await asyncio.sleep(300)
    os._exit(0)


async def fetch(session, item):
    for attempt in range(12):
        async with session.get(f"http://127.0.0.1:{PORT}/{item}") as answer:
            if answer.status == 200:
                return attempt, await answer.json()
        await asyncio.sleep(random.uniform(0.01, 0.03) * (attempt + 1))
    raise RuntimeError(item)


async def main():
    connector = aiohttp.TCPConnector(limit=2)
    async with aiohttp.ClientSession(connector=connector) as session:
        items = [f"item-{n}" for n in range(6)]
        for result in await asyncio.gather(*(fetch(session, item) for item in items)):
            print(*result)


asyncio.run(serve() if sys.argv[1:2] == ["serve"] else main())
