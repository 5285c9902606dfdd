"""A client that asks again when its connection breaks: the card is charged twice."""

import asyncio
from contextlib import suppress

from twice.schedules import host

charges: list[bytes] = []


async def serve() -> None:
    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionResetError):
            while order := await reader.readline():
                charges.append(order)
                await asyncio.sleep(0.01)
                writer.write(b"charged\n")

    await (await asyncio.start_server(handle, "bank", 443)).serve_forever()


async def charge(order: bytes) -> None:
    while True:
        try:
            reader, writer = await asyncio.open_connection("bank", 443)
            writer.write(order)
            if await reader.readline() == b"charged\n":
                writer.close()
                return
        except OSError:
            pass
        await asyncio.sleep(0.5)


async def main() -> None:
    charges.clear()
    bank = host("bank", serve)
    for n in range(3):
        await charge(b"order-%d\n" % n)
    await asyncio.sleep(300)
    bank.cancel()
    assert sorted(charges) == sorted(set(charges)), charges
