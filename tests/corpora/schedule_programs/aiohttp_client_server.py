"""aiohttp: ten posts and a web socket between its client and its server."""

import asyncio

import aiohttp
from aiohttp import web


async def main():
    async def hello(request):
        data = await request.json()
        await asyncio.sleep(0.5)
        return web.json_response({"sum": data["a"] + data["b"]})

    async def ws(request):
        s = web.WebSocketResponse()
        await s.prepare(request)
        async for m in s:
            await s.send_str(m.data.upper())
        return s

    app = web.Application()
    app.router.add_post("/", hello)
    app.router.add_get("/ws", ws)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 8080)
    await site.start()
    async with aiohttp.ClientSession() as s:

        async def one(n):
            async with s.post("http://127.0.0.1:8080/", json={"a": n, "b": 1}) as r:
                return (await r.json())["sum"]

        got = await asyncio.gather(*(one(n) for n in range(10)))
        async with s.ws_connect("http://127.0.0.1:8080/ws") as w:
            await w.send_str("hi")
            got.append((await w.receive()).data)
    await runner.cleanup()
    return got
