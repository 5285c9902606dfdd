"""redis-py 4.5.3, issue 2665: a command that is cancelled leaves its answer to the next one."""

from __future__ import annotations

import asyncio

from redis.asyncio import Redis
from redis_server import make_server


async def main() -> None:
    """Fail if a command gets the answer of another one."""
    server = await asyncio.start_server(make_server(), "127.0.0.1", 6379)
    client = Redis(host="127.0.0.1", port=6379, single_connection_client=True)
    async with server, client:
        await client.set("foo", "foo")
        await client.set("bar", "bar")

        async def give_up(command: asyncio.Task[bytes]) -> None:
            await asyncio.sleep(0.05)
            await asyncio.sleep(0.05)  # the server takes 0.1 s
            command.cancel()

        command = asyncio.create_task(client.get("foo"))
        await asyncio.gather(command, give_up(command), return_exceptions=True)
        assert await client.get("bar") == b"bar"
