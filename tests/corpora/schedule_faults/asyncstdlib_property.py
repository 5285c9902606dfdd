"""A client has its session as a cached property (maxfischer2781/asyncstdlib#149)."""

import asyncio

from asyncstdlib import cached_property


class Session:
    def __init__(self, service):
        self.service = service
        service.sessions += 1

    async def get(self, path):
        await asyncio.sleep(0)
        return f"{path} of session {self.service.sessions}"

    def close(self):
        self.service.sessions -= 1


class Service:
    def __init__(self):
        self.sessions = 0

    async def log_in(self):
        await asyncio.sleep(0)  # order: log in
        return Session(self)


class Client:
    def __init__(self, service):
        self.service = service

    @cached_property
    async def session(self):
        return await self.service.log_in()

    async def get(self, path):
        session = await self.session
        return await session.get(path)

    async def close(self):
        (await self.session).close()


async def later(client):
    for _ in range(3):
        await asyncio.sleep(0)  # order: later
    await client.get("/later")


async def main():
    service = Service()
    client = Client(service)
    await asyncio.gather(client.get("/now"), later(client))
    await client.close()
    assert service.sessions == 0, f"{service.sessions} sessions are left open"
