"""A web service writes its visits to a store. On a signal it stops: first the socket, then the store."""

import asyncio


class Store:
    def __init__(self):
        self.visits = []
        self.open = True

    async def add(self, path):
        await asyncio.sleep(0)  # order: add
        if not self.open:
            raise RuntimeError("the store is closed")
        self.visits.append(path)

    async def close(self):
        await asyncio.sleep(0)
        self.open = False


class Service:
    def __init__(self, store):
        self.store = store
        self.errors = []

    async def start(self, port):
        self.server = await asyncio.start_server(self.serve, "127.0.0.1", port)

    async def serve(self, reader, writer):
        try:
            while line := await reader.readline():
                await self.store.add(line.decode().strip())
                writer.write(b"200\n")
                await writer.drain()
        except RuntimeError as error:
            self.errors.append(error)
            writer.write(b"500\n")
        writer.close()

    async def stop(self):
        self.server.close()
        await self.server.wait_closed()
        await self.store.close()


async def visit(port, paths):
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    answers = []
    for path in paths:
        writer.write(path.encode() + b"\n")
        answers.append((await reader.readline()).decode().strip())  # order: answer
    writer.close()
    return answers


async def supervise(service, ticks):
    for _ in range(ticks):
        await asyncio.sleep(0)  # order: supervise
    await service.stop()


async def main():
    service = Service(Store())
    await service.start(7005)
    answers, _ = await asyncio.gather(visit(7005, ["/", "/shop"]), supervise(service, 40))
    if service.errors:
        raise service.errors[0]
    assert answers == ["200", "200"]
