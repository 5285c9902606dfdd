"""Requests of tenants write to an audit log, whose writer starts with the first of them."""

import asyncio
from contextvars import ContextVar

tenant = ContextVar("tenant", default="nobody")


class AuditLog:
    def __init__(self):
        self.queue = asyncio.Queue()
        self.writer = None
        self.lines = []

    def log(self, text):
        if self.writer is None:
            self.writer = asyncio.create_task(self.write())
        self.queue.put_nowait(text)

    async def write(self):
        while (text := await self.queue.get()) is not None:
            who = tenant.get()
            await asyncio.sleep(0)
            self.lines.append(f"{who}: {text}")

    async def close(self):
        self.queue.put_nowait(None)
        await self.writer


class Api:
    def __init__(self):
        self.audit = AuditLog()

    async def authenticate(self, hops):
        for _ in range(hops):
            await asyncio.sleep(0)  # order: authenticated

    async def start_up(self):
        await asyncio.sleep(0)  # order: started
        self.audit.log("service started")

    async def request(self, who, hops):
        tenant.set(who)
        await self.authenticate(hops)
        self.audit.log("request")


async def main():
    api = Api()
    await asyncio.gather(api.start_up(), api.request("acme", 3), api.request("umbrella", 4))
    await api.audit.close()
    started = next(line for line in api.audit.lines if line.endswith("service started"))
    assert started == "nobody: service started", started
