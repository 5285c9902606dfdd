"""A chat room over websockets: everybody gets every message of their room, in one order."""

import asyncio

import websockets
from websockets.asyncio.client import connect
from websockets.asyncio.server import serve


class Room:
    def __init__(self):
        self.members = set()
        self.lock = asyncio.Lock()
        self.full = asyncio.Event()

    async def handle(self, socket):
        self.members.add(socket)
        if len(self.members) == 2:
            self.full.set()
        await self.full.wait()
        try:
            async for message in socket:
                async with self.lock:
                    websockets.broadcast(self.members, message)
        except websockets.ConnectionClosed:
            pass


async def chat(port, name, heard):
    async with connect(f"ws://127.0.0.1:{port}", compression=None) as socket:
        await socket.send(f"hello from {name}")
        heard[name] = [await socket.recv(), await socket.recv()]


async def main():
    heard = {}
    async with serve(Room().handle, "127.0.0.1", 7012, compression=None):
        await asyncio.gather(chat(7012, "ann", heard), chat(7012, "bob", heard))
    assert heard["ann"] == heard["bob"], heard
    assert set(heard["ann"]) == {"hello from ann", "hello from bob"}
