"""An upload is made in pieces by a generator; the service outside answers with the number of its pieces. (serve)"""
import asyncio
import ctypes
import os
import sys

import aiohttp
from aiohttp import web

PORT = 47232


class Moment(ctypes.Structure):
    _fields_ = [("seconds", ctypes.c_long), ("rest", ctypes.c_long)]


def nanoseconds():
    """A clock of the C library, which no system call shows."""
    moment = Moment()
    ctypes.CDLL(None).clock_gettime(1, ctypes.byref(moment))
    return moment.seconds * 10**9 + moment.rest

async def serve():
    async def take(request):
        size = len(await request.read())
        return web.json_response({"stored": size})

    application = web.Application()
    application.router.add_post("/upload", take)
    runner = web.AppRunner(application)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", PORT).start()
    open("ready", "w").close()
    await asyncio.sleep(300)
    os._exit(0)


async def pieces():
    for number in range(4):
        yield f"piece {number}: {nanoseconds():020d};".encode()


async def main():
    async with aiohttp.ClientSession() as session:
        async with session.post(f"http://127.0.0.1:{PORT}/upload", data=pieces()) as answer:
            print(answer.status, await answer.json())


asyncio.run(serve() if sys.argv[1:2] == ["serve"] else main())
