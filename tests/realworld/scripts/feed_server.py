"""A service of websockets for client programs: an echo, feeds of random prices, and one that breaks off."""

import asyncio
import json
import random

import websockets
from websockets.asyncio.server import ServerConnection

R = random.SystemRandom()


async def serve(socket: ServerConnection) -> None:
    assert socket.request is not None
    _, kind, *rest = socket.request.path.split("/")
    try:
        if kind == "echo":
            async for message in socket:
                await asyncio.sleep(R.uniform(0, 0.02))
                await socket.send(f"{message} {R.random()}")
            return
        first = int(rest[0]) if kind == "broken" else 0
        for number in range(first, 20):
            await asyncio.sleep(R.uniform(0, 0.01))
            if kind == "broken" and R.random() < 0.15:
                socket.transport.abort()
                return
            await socket.send(json.dumps({"number": number, "price": R.random()}))
    except websockets.ConnectionClosed:
        pass


async def main() -> None:
    async with websockets.serve(serve, "127.0.0.1", 0) as server:
        print(next(iter(server.sockets)).getsockname()[1], flush=True)
        await asyncio.Event().wait()


asyncio.run(main())
