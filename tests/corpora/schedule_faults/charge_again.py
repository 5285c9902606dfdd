"""A payment is retried if the bank does not answer in time."""

import asyncio


class Bank:
    def __init__(self):
        self.charged = []

    async def serve(self, reader, writer):
        try:
            while line := await reader.readline():
                await asyncio.sleep(0)  # order: bank
                self.charged.append(line.decode().strip())
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

    async def charge_once(self, order):
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        try:
            writer.write(f"{order}\n".encode())
            await writer.drain()
            return (await reader.readline()).decode().strip()
        finally:
            writer.close()

    async def charge(self, order):
        for attempt in range(self.attempts):
            try:
                async with asyncio.timeout(self.deadline):
                    return await self.charge_once(order)
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
    assert len(bank.charged) == 1, f"charged {len(bank.charged)} times"
