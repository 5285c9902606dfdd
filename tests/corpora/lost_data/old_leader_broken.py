"""A leader that is cut off until its lease has ended, and then writes what it read before."""

import asyncio
from contextlib import suppress

from twice.schedules import host

stored = {"count": 0}
written: list[str] = []
LEASE_S = 5


async def store() -> None:
    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionResetError):
            while line := await reader.readline():
                words = line.decode().split()
                if words[0] == "read":
                    writer.write(b"%d\n" % stored["count"])
                else:
                    stored["count"] = int(words[1])
                    writer.write(b"ok\n")

    await (await asyncio.start_server(handle, "store", 1)).serve_forever()


async def ask(text: str) -> str:
    while True:
        try:
            reader, writer = await asyncio.open_connection("store", 1)
            writer.write(text.encode() + b"\n")
            if line := await reader.readline():
                writer.close()
                return line.decode().strip()
        except OSError:
            pass
        await asyncio.sleep(0.5)


async def lead(name: str) -> None:
    count = int(await ask("read"))
    await asyncio.sleep(0.1)
    await ask(f"write {count + 1} {count}")
    written.append(name)


async def main() -> None:
    stored["count"] = 0
    written.clear()
    server = host("store", store)
    await asyncio.sleep(0.1)
    first = asyncio.create_task(lead("first"))
    await asyncio.wait({first}, timeout=LEASE_S)
    await lead("second")  # the lease of the first has ended, whether it knows it or not
    await first
    await asyncio.sleep(300)
    server.cancel()
    assert stored["count"] == len(written), (stored, written)
