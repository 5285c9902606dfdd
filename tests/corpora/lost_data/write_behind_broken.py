"""A cache that answers before it has written: an order that was stored is gone after a crash."""

import asyncio
from contextlib import suppress

from twice.schedules import host

disk: dict[bytes, bytes] = {}


async def serve() -> None:
    memory = dict(disk)

    async def flush() -> None:
        while True:
            await asyncio.sleep(1)
            disk.update(memory)

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionResetError):
            while line := await reader.readline():
                key, _, value = line.partition(b"=")
                memory[key] = value
                writer.write(b"stored\n")

    server = await asyncio.start_server(handle, "cache", 6379)
    await asyncio.gather(flush(), server.serve_forever())


async def put(key: bytes, value: bytes) -> None:
    while True:
        try:
            reader, writer = await asyncio.open_connection("cache", 6379)
            writer.write(key + b"=" + value + b"\n")
            if await reader.readline() == b"stored\n":
                writer.close()
                return
        except OSError:
            pass
        await asyncio.sleep(0.5)


async def main() -> None:
    disk.clear()
    cache = host("cache", serve)
    for n in range(3):
        await put(b"order-%d" % n, b"paid")
    await asyncio.sleep(300)
    cache.cancel()
    assert len(disk) == 3, sorted(disk)
