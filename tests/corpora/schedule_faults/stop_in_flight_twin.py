"""A web service writes its visits to a store. It counts its connections, and stops when none is left."""

import asyncio


class Store:
    def __init__(self):
        self.visits = []
        self.open = True

    async def add(self, path):
        await asyncio.sleep(0)
        if not self.open:
            raise RuntimeError("the store is closed")
        self.visits.append(path)

    async def close(self):
        await asyncio.sleep(0)
        self.open = False


class Service:
    def __init__(self, store):
        self.store = store
        self.serving = 0
        self.idle = asyncio.Condition()

    async def start(self, port):
        self.server = await asyncio.start_server(self.serve, "127.0.0.1", port)

    async def serve(self, reader, writer):
        self.serving += 1
        try:
            while line := await reader.readline():
                await self.store.add(line.decode().strip())
                writer.write(b"200\n")
                await writer.drain()
        finally:
            writer.close()
            async with self.idle:
                self.serving -= 1
                self.idle.notify_all()

    async def stop(self):
        self.server.close()
        async with self.idle:
            await self.idle.wait_for(lambda: self.serving == 0)
        await self.store.close()


async def visit(port, paths, connected):
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    answers = []
    for path in paths:
        writer.write(path.encode() + b"\n")
        answers.append((await reader.readline()).decode().strip())
        connected.set()
    writer.close()
    return answers


async def supervise(service, connected):
    await connected.wait()
    await service.stop()


async def main():
    service = Service(Store())
    await service.start(7005)
    connected = asyncio.Event()
    visits = visit(7005, ["/", "/shop", "/basket"], connected)
    answers, _ = await asyncio.gather(visits, supervise(service, connected))
    assert answers == ["200"] * 3, answers
    assert service.store.visits == ["/", "/shop", "/basket"]
