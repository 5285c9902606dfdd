"""A request is cancelled while it waits for redis, and the next one uses the connection (redis/redis-py#2624)."""

import asyncio

from redis.asyncio import Redis


class FakeServer:
    """As much of a redis as GET and SET need."""

    def __init__(self):
        self.values = {}

    async def serve(self, reader, writer):
        while line := await reader.readline():
            words = []
            for _ in range(int(line[1:])):
                size = int((await reader.readline())[1:])
                words.append((await reader.readexactly(size + 2))[:-2])
            if words[0] == b"SET":
                self.values[words[1]] = words[2]
                writer.write(b"+OK\r\n")
            elif words[0] == b"GET":
                value = self.values.get(words[1])
                writer.write(
                    b"$-1\r\n" if value is None else b"$%d\r\n%s\r\n" % (len(value), value)
                )
            else:
                writer.write(b"+OK\r\n")
            await writer.drain()
        writer.close()


class Api:
    def __init__(self, redis):
        self.redis = redis

    async def user(self, name):
        return await self.redis.get(f"user:{name}")


async def browser_goes_away(task):
    for _ in range(30):
        await asyncio.sleep(0)  # order: goes away
    task.cancel()


async def main():
    server = await asyncio.start_server(FakeServer().serve, "127.0.0.1", 7009)
    redis = Redis(host="127.0.0.1", port=7009, single_connection_client=True)
    api = Api(redis)
    await redis.set("user:ann", "Ann")
    await redis.set("user:bob", "Bob")
    request = asyncio.create_task(api.user("ann"))
    await asyncio.gather(request, browser_goes_away(request), return_exceptions=True)
    bob = await api.user("bob")
    await redis.close()
    server.close()
    assert bob == b"Bob", bob
