"""A payment is retried under one key if the bank does not answer in time. The bank pays a key once."""

import asyncio


class Bank:
    def __init__(self):
        self.charged = {}

    async def serve(self, reader, writer):
        try:
            while line := await reader.readline():
                key, order = line.decode().split()
                await asyncio.sleep(0)
                self.charged.setdefault(key, order)
                await asyncio.sleep(2.0)
                writer.write(b"paid\n")
                await writer.drain()
        except ConnectionError:
            pass
        writer.close()


class Payments:
    def __init__(self, port, deadline, attempts):
        self.port = port
        self.deadline = deadline
        self.attempts = attempts

    async def charge_once(self, key, order):
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        try:
            writer.write(f"{key} {order}\n".encode())
            await writer.drain()
            return (await reader.readline()).decode().strip()
        finally:
            writer.close()

    async def charge(self, order):
        key = f"key-{order}"
        for attempt in range(self.attempts):
            try:
                async with asyncio.timeout(self.deadline):
                    return await self.charge_once(key, order)
            except TimeoutError:
                await asyncio.sleep(0.1 * 2**attempt)
        return "given up"


async def main():
    bank = Bank()
    server = await asyncio.start_server(bank.serve, "127.0.0.1", 7006)
    payments = Payments(7006, deadline=2.0, attempts=2)
    outcome = await payments.charge("order-1")
    server.close()
    assert outcome in {"paid", "given up"}
    assert bank.charged == {"key-order-1": "order-1"}
