"""Eight mirrors outside answer when they like; they are listed as they answer, and the first one wins. (serve)"""
import asyncio
import os
import random
import sys

import httpx

PORT = 47212


async def mirror(reader, writer):
    path = (await reader.readuntil(b"\r\n\r\n")).decode().split()[1]
    await asyncio.sleep(random.uniform(0.05, 0.5))
    body = f"mirror {path[1:]} has {random.randrange(10**6)} files".encode()
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\nConnection: close\r\n\r\n" % len(body) + body)
    await writer.drain()
    writer.close()


async def serve():
    server = await asyncio.start_server(mirror, "127.0.0.1", PORT)
    open("ready", "w").close()
    asyncio.get_running_loop().call_later(300, os._exit, 0)
    async with server:
        await server.serve_forever()


async def fetch(client, name):
    return name, (await client.get(f"http://127.0.0.1:{PORT}/{name}")).text


async def main():
    async with httpx.AsyncClient(timeout=5) as client:
        tasks = [asyncio.create_task(fetch(client, name)) for name in "abcdefgh"]
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        print("first", sorted(task.result() for task in done))
        for place, each in enumerate(asyncio.as_completed(tasks)):
            print(place, *(await each))


asyncio.run(serve() if sys.argv[1:2] == ["serve"] else main())
