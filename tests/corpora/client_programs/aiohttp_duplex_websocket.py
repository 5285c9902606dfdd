"""One task writes to a websocket, another reads from it, a third looks at how far they are."""

import asyncio
import sys

import aiohttp


async def main():
    async with (
        aiohttp.ClientSession() as session,
        session.ws_connect(f"ws://127.0.0.1:{sys.argv[1]}/echo") as socket,
    ):
        sent, received = [], []

        async def write():
            for number in range(10):
                await socket.send_json({"number": number})
                sent.append(number)
                await asyncio.sleep(0.004)

        async def read():
            while len(received) < 10:
                received.append((await socket.receive()).data)

        async def look():
            while len(received) < 10:
                print("under way:", len(sent) - len(received))
                await asyncio.sleep(0.02)

        await asyncio.gather(write(), read(), look())
        print(*received, sep="\n")


asyncio.run(main())
