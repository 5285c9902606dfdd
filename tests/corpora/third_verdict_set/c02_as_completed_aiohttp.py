"""Six orders are shipped by an aiohttp server in the same loop; they are printed as they are completed."""
import asyncio

import aiohttp
from aiohttp import web


async def ship(request):
    order = await request.json()
    await asyncio.sleep(0.06 * (6 - order["number"]))
    return web.json_response({"number": order["number"], "box": "ABCDEF"[order["number"]]})


async def post(session, url, number):
    async with session.post(url, json={"number": number}) as answer:
        return answer.status, await answer.json()


async def main():
    application = web.Application()
    application.router.add_post("/ship", ship)
    runner = web.AppRunner(application)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    url = f"http://127.0.0.1:{site._server.sockets[0].getsockname()[1]}/ship"
    async with aiohttp.ClientSession() as session:
        tasks = [post(session, url, number) for number in range(6)]
        for done in asyncio.as_completed(tasks):
            print(*(await done))
    await runner.cleanup()


asyncio.run(main())
