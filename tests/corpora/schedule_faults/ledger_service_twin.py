"""A ledger behind a socket whose clients ask the server to add, in one command."""

import asyncio


class Ledger:
    def __init__(self):
        self.balances = {"alice": 100}
        self.server = None

    async def start(self):
        self.server = await asyncio.start_server(self.serve, "127.0.0.1", 7001)

    async def serve(self, reader, writer):
        while line := await reader.readline():
            command, *words = line.decode().split()
            if command == "ADD":
                self.balances[words[0]] += int(words[1])
                writer.write(f"{self.balances[words[0]]}\n".encode())
            else:
                writer.write(b"HELLO\n")
            await writer.drain()
        writer.close()

    async def stop(self):
        self.server.close()
        await self.server.wait_closed()


class Teller:
    def __init__(self, name):
        self.name = name

    async def open(self):
        self.reader, self.writer = await asyncio.open_connection("127.0.0.1", 7001)
        await self.ask(f"HELLO {self.name}")

    async def ask(self, text):
        self.writer.write(text.encode() + b"\n")
        await self.writer.drain()
        return (await self.reader.readline()).decode().strip()

    async def deposit(self, account, amount):
        return int(await self.ask(f"ADD {account} {amount}"))

    async def close(self):
        self.writer.close()
        await self.writer.wait_closed()


async def shift(name, account, amount, greetings):
    teller = Teller(name)
    await teller.open()
    for greeting in range(greetings):
        await teller.ask(f"HELLO {greeting}")
    await teller.deposit(account, amount)
    await teller.close()


async def main():
    ledger = Ledger()
    await ledger.start()
    await asyncio.gather(
        shift("a", "alice", 10, 0), shift("b", "alice", 5, 4), shift("c", "alice", 1, 2)
    )
    await ledger.stop()
    assert ledger.balances["alice"] == 116, ledger.balances
