"""A client of a push service connects under a lock that it takes by hand (larksuite/oapi-sdk-python#149)."""

import asyncio


class Gateway:
    def __init__(self):
        self.connections = 0

    async def connect(self):
        await asyncio.sleep(0)  # order: gateway
        self.connections += 1
        return Connection(self.connections)


class Connection:
    def __init__(self, number):
        self.number = number
        self.sent = []

    async def send(self, text):
        await asyncio.sleep(0)
        self.sent.append(text)


class Client:
    def __init__(self, gateway):
        self.gateway = gateway
        self.lock = asyncio.Lock()
        self.connection = None

    async def connect(self):
        await self.lock.acquire()
        if self.connection is not None:
            return
        try:
            self.connection = await self.gateway.connect()
        finally:
            self.lock.release()

    async def send(self, text):
        if self.connection is None:
            await self.connect()
        await self.connection.send(text)

    async def drop(self):
        async with self.lock:
            self.connection = None


async def heartbeat(client):
    for _ in range(5):
        await asyncio.sleep(0)  # order: heartbeat
    await client.send("ping")


async def main():
    client = Client(Gateway())
    await asyncio.gather(client.send("hello"), heartbeat(client))
    await client.drop()
    await client.send("again")
    assert client.gateway.connections == 2
