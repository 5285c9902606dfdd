"""A server answers as soon as it can, and each answer carries the number of its question."""

import asyncio


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
        key, command, number = words
        if command == "square":
            await asyncio.sleep(0)
            writer.write(f"{key} {int(number) ** 2}\n".encode())
        else:
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            writer.write(f"{key} {-int(number)}\n".encode())


class Client:
    def __init__(self):
        self.waiting = {}
        self.asked = 0

    async def open(self, port):
        self.reader, self.writer = await asyncio.open_connection("127.0.0.1", port)
        self.receiver = asyncio.create_task(self.receive())

    async def receive(self):
        while line := await self.reader.readline():
            key, value = line.split()
            self.waiting.pop(int(key)).set_result(int(value))

    async def ask(self, command, number):
        self.asked += 1
        key = self.asked
        future = self.waiting[key] = asyncio.get_running_loop().create_future()
        self.writer.write(f"{key} {command} {number}\n".encode())
        return await future

    async def close(self):
        self.writer.close()
        await self.receiver


async def main():
    server = await asyncio.start_server(Server().serve, "127.0.0.1", 7004)
    client = Client()
    await client.open(7004)
    questions = [client.ask("square", 7), client.ask("negate", 7), client.ask("square", 3)]
    answers = await asyncio.gather(*questions)
    await client.close()
    server.close()
    assert answers == [49, -7, 9]
