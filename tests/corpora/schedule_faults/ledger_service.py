"""A ledger behind a socket: clients read a balance, add to it, and write it back."""

import asyncio


class Ledger:
    def __init__(self):
        self.balances = {"alice": 100}
        self.server = None

    async def start(self):
        self.server = await asyncio.start_server(self.serve, "127.0.0.1", 7001)

    async def serve(self, reader, writer):
        while line := await reader.readline():  # order: serve
            command, *words = line.decode().split()
            if command == "GET":
                writer.write(f"{self.balances[words[0]]}\n".encode())
            elif command == "SET":
                self.balances[words[0]] = int(words[1])
                writer.write(b"OK\n")
            else:
                writer.write(b"HELLO\n")
            await writer.drain()
        writer.close()

    async def stop(self):
        self.server.close()


class Teller:
    def __init__(self, name):
        self.name = name

    async def open(self):
        self.reader, self.writer = await asyncio.open_connection("127.0.0.1", 7001)
        await self.ask(f"HELLO {self.name}")

    async def ask(self, text):
        self.writer.write(text.encode() + b"\n")
        await self.writer.drain()
        return (await self.reader.readline()).decode().strip()  # order: answer

    async def deposit(self, account, amount):
        balance = int(await self.ask(f"GET {account}"))
        await self.ask(f"SET {account} {balance + amount}")

    def close(self):
        self.writer.close()


async def shift(name, account, amount, greetings):
    teller = Teller(name)
    await teller.open()
    for greeting in range(greetings):
        await teller.ask(f"HELLO {greeting}")
    await teller.deposit(account, amount)
    teller.close()


async def main():
    ledger = Ledger()
    await ledger.start()
    await asyncio.gather(shift("a", "alice", 10, 0), shift("b", "alice", 5, 4))
    await ledger.stop()
    assert ledger.balances["alice"] == 115, ledger.balances
