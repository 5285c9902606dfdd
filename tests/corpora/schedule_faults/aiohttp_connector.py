"""A reader has one connection. Once a page is there, a page that waits is not wanted (aio-libs/aiohttp#9670)."""

import asyncio

import aiohttp
from aiohttp import web


async def page(request):
    await asyncio.sleep(float(request.query["delay"]))
    return web.Response(text=request.path)


async def start_server(port):
    app = web.Application()
    app.router.add_get("/{name}", page)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", port).start()
    return runner


class Reader:
    def __init__(self, session, port):
        self.session = session
        self.base = f"http://127.0.0.1:{port}"
        self.pages = []
        self.shown = asyncio.Event()

    async def get(self, name, delay):
        async with self.session.get(f"{self.base}/{name}", params={"delay": delay}) as answer:
            text = await answer.text()  # order: text
        self.pages.append(text)
        self.shown.set()

    async def turn_page(self, unwanted):
        await self.shown.wait()
        for _ in range(4):
            await asyncio.sleep(0)  # order: turns
        unwanted.cancel()


async def main():
    runner = await start_server(7010)
    connector = aiohttp.TCPConnector(limit=1)
    async with aiohttp.ClientSession(connector=connector) as session:
        reader = Reader(session, 7010)
        first = asyncio.create_task(reader.get("first", "1.0"))
        await asyncio.sleep(0.2)
        preview = asyncio.create_task(reader.get("preview", "0.1"))
        await asyncio.sleep(0.2)
        second = asyncio.create_task(reader.get("second", "0.1"))
        await asyncio.gather(
            first, preview, second, reader.turn_page(preview), return_exceptions=True
        )
    await runner.cleanup()
    assert "/second" in reader.pages, reader.pages
