"""A client of a line protocol gives up after a deadline and asks again over the same connection."""

import asyncio


class Thermometer:
    """A device that answers one question after another, as long as they take."""

    def __init__(self):
        self.delays = {"outside": 1.0, "inside": 0.0}
        self.values = {"outside": -4, "inside": 21}

    async def serve(self, reader, writer):
        while line := await reader.readline():
            name = line.decode().strip()
            await asyncio.sleep(self.delays[name])  # order: device
            writer.write(f"{name} {self.values[name]}\n".encode())
            await writer.drain()
        writer.close()


class Client:
    def __init__(self, host, port, deadline):
        self.address = host, port
        self.deadline = deadline

    async def __aenter__(self):
        self.reader, self.writer = await asyncio.open_connection(*self.address)
        return self

    async def __aexit__(self, *_):
        self.writer.close()

    async def read(self, name):
        self.writer.write(f"{name}\n".encode())
        await self.writer.drain()
        try:
            line = await asyncio.wait_for(self.reader.readline(), self.deadline)  # order: deadline
        except asyncio.TimeoutError:
            return None
        place, value = line.decode().split()
        assert place == name, f"asked for {name}, got {place}"
        return int(value)


async def main():
    device = Thermometer()
    server = await asyncio.start_server(device.serve, "127.0.0.1", 7002)
    async with Client("127.0.0.1", 7002, deadline=1.0) as client:
        for name in ("outside", "inside"):
            await client.read(name)
    server.close()
