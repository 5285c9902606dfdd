"""A pool of connections fills itself up to a maximum, and counts before it connects (aio-libs/aiopg#18)."""

import asyncio
from collections import deque


class Connection:
    open = 0

    @classmethod
    async def connect(cls):
        await asyncio.sleep(0)  # order: connected
        cls.open += 1
        return cls()

    async def query(self, text):
        await asyncio.sleep(0)
        return text.upper()

    def close(self):
        type(self).open -= 1


class Pool:
    def __init__(self, maxsize):
        self.maxsize = maxsize
        self.free = deque()
        self.used = set()
        self.released = asyncio.Condition()

    @property
    def size(self):
        return len(self.free) + len(self.used)

    async def fill(self):
        if not self.free and self.size < self.maxsize:
            connection = await Connection.connect()
            self.free.append(connection)

    async def acquire(self):
        while True:
            await self.fill()
            if self.free:
                connection = self.free.popleft()
                self.used.add(connection)
                assert self.size <= self.maxsize, f"{self.size} connections, at most {self.maxsize}"
                return connection
            async with self.released:
                if not self.free:
                    await self.released.wait()

    async def release(self, connection):
        self.used.remove(connection)
        self.free.append(connection)
        async with self.released:
            self.released.notify()


async def request(pool, number):
    for _ in range(5 * number):
        await asyncio.sleep(0)  # order: request
    connection = await pool.acquire()
    try:
        return await connection.query(f"select {number}")
    finally:
        await pool.release(connection)


async def main():
    Connection.open = 0
    pool = Pool(1)
    answers = await asyncio.gather(*(request(pool, number) for number in range(3)))
    assert answers == ["SELECT 0", "SELECT 1", "SELECT 2"]
