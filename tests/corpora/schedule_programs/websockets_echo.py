"""websockets: four clients and a server."""

import asyncio
from websockets.asyncio.client import connect
from websockets.asyncio.server import serve


async def main():
    async def echo(ws):
        async for m in ws:
            await ws.send(m[::-1])

    async with serve(echo, "127.0.0.1", 8765):

        async def one(n):
            async with connect("ws://127.0.0.1:8765", proxy=None) as ws:
                await ws.send(f"m{n}")
                return await ws.recv()

        return await asyncio.gather(*(one(n) for n in range(4)))
