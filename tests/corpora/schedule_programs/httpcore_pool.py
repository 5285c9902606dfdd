"""httpcore 1.0.2, issue 830: a request that is cancelled keeps its place in the pool for ever."""

from __future__ import annotations

import asyncio
from contextlib import suppress

import httpcore


async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer the requests of one connection."""
    with suppress(ConnectionError):
        while await reader.readline():
            await reader.readuntil(b"\r\n\r\n")
            await asyncio.sleep(1)
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
    writer.close()


async def main() -> None:
    """Fail if a request finds no connection, although none is in use."""
    server = await asyncio.start_server(serve, "127.0.0.1", 8080)
    pool = httpcore.AsyncConnectionPool(max_connections=1)
    async with server, pool:

        async def get() -> int:
            limits = {"timeout": {"pool": 60}}
            answer = await pool.request("GET", "http://127.0.0.1:8080/", extensions=limits)
            return answer.status

        async def give_up(request: asyncio.Task[int]) -> None:
            await asyncio.sleep(1)
            request.cancel()

        first, second = asyncio.create_task(get()), asyncio.create_task(get())
        await asyncio.gather(first, second, give_up(second), return_exceptions=True)
        assert await get() == 200
