"""A hub sends each event to whoever is subscribed. A dashboard subscribes, a sensor publishes."""

import asyncio


class Hub:
    """Topics behind a socket: SUB topic, PUB topic text."""

    def __init__(self):
        self.subscribers = {}

    async def serve(self, reader, writer):
        while line := await reader.readline():  # order: serve
            command, topic, *words = line.decode().split()
            if command == "SUB":
                self.subscribers.setdefault(topic, []).append(writer)
            else:
                for subscriber in self.subscribers.get(topic, []):
                    subscriber.write((" ".join(words) + "\n").encode())
        writer.close()


async def dashboard(port, ready, shown):
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"SUB heat\n")
    await writer.drain()
    ready.set()
    while len(shown) < 2:
        shown.append((await reader.readline()).decode().strip())  # order: reading
    writer.close()


async def sensor(port, ready, values):
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    await ready.wait()  # order: ready
    for value in values:
        writer.write(f"PUB heat {value}\n".encode())
    await writer.drain()
    writer.close()


async def main():
    server = await asyncio.start_server(Hub().serve, "127.0.0.1", 7007)
    ready, shown = asyncio.Event(), []
    await asyncio.gather(dashboard(7007, ready, shown), sensor(7007, ready, [19, 23]))
    server.close()
    assert shown == ["19", "23"]
