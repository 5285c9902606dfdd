"""A server answers the questions of one connection as soon as it can. The client sends several at once."""

import asyncio
from collections import deque


class Server:
    def __init__(self):
        self.tasks = set()

    async def serve(self, reader, writer):
        while line := await reader.readline():
            task = asyncio.create_task(self.answer(line.decode().split(), writer))
            self.tasks.add(task)
            task.add_done_callback(self.tasks.discard)
        writer.close()

    async def answer(self, words, writer):
        command, number = words
        if command == "square":
            await asyncio.sleep(0)  # order: square
            writer.write(f"{int(number) ** 2}\n".encode())
        else:
            await asyncio.sleep(0)
            await asyncio.sleep(0)  # order: negate
            writer.write(f"{-int(number)}\n".encode())


class Client:
    def __init__(self):
        self.waiting = deque()

    async def open(self, port):
        self.reader, self.writer = await asyncio.open_connection("127.0.0.1", port)
        self.receiver = asyncio.create_task(self.receive())

    async def receive(self):
        while line := await self.reader.readline():
            self.waiting.popleft().set_result(int(line))

    async def ask(self, command, number):
        future = asyncio.get_running_loop().create_future()
        self.waiting.append(future)
        self.writer.write(f"{command} {number}\n".encode())
        return await future

    async def close(self):
        self.writer.close()
        await self.receiver


async def main():
    server = await asyncio.start_server(Server().serve, "127.0.0.1", 7004)
    client = Client()
    await client.open(7004)
    squared, negated = await asyncio.gather(client.ask("square", 7), client.ask("negate", 7))
    await client.close()
    server.close()
    assert (squared, negated) == (49, -7)
