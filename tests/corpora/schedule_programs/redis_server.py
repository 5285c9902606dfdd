"""A server of the Redis protocol in memory: SET, GET and PING, each answered after a while."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable


def make_server() -> Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]:
    """Return what answers the commands of each connection, one after the other."""
    values: dict[bytes, bytes] = {}

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while line := await reader.readline():
            words = []
            for _ in range(int(line[1:])):
                length = int((await reader.readline())[1:])
                words.append((await reader.readexactly(length + 2))[:-2])
            await asyncio.sleep(0.1)
            name = words[0].upper()
            if name == b"SET":
                values[words[1]] = words[2]
                answer = b"+OK\r\n"
            elif name == b"GET":
                value = values[words[1]]
                answer = b"$%d\r\n%s\r\n" % (len(value), value)
            else:
                answer = b"+PONG\r\n" if name == b"PING" else b"+OK\r\n"
            writer.write(answer)
            await writer.drain()
        writer.close()

    return serve
