"""The same file, written beside the old one and then put in its place."""

import asyncio
import json
from contextlib import suppress

from twice.schedules import host

files: dict[str, bytes] = {}


async def write(name: str, data: bytes) -> None:
    files[f"{name}.new"] = b""
    await asyncio.sleep(0.01)
    files[f"{name}.new"] = data
    await asyncio.sleep(0.01)
    files[name] = files.pop(f"{name}.new")


async def serve() -> None:
    state = json.loads(files.get("state") or b"{}")

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionResetError):
            while line := await reader.readline():
                state[line.decode().strip()] = "done"
                await write("state", json.dumps(state).encode())
                writer.write(b"saved\n")

    await (await asyncio.start_server(handle, "home", 8123)).serve_forever()


async def save(name: str) -> None:
    while True:
        try:
            reader, writer = await asyncio.open_connection("home", 8123)
            writer.write(name.encode() + b"\n")
            if await reader.readline() == b"saved\n":
                writer.close()
                return
        except OSError:
            pass
        await asyncio.sleep(0.5)


async def main() -> None:
    files.clear()
    home = host("home", serve)
    for name in ("lamp", "door", "heating"):
        await save(name)
    await asyncio.sleep(300)
    home.cancel()
    assert sorted(json.loads(files["state"] or b"{}")) == ["door", "heating", "lamp"]
