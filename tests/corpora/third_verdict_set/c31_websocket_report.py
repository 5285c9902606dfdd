"""Readings are reported over a websocket to a service outside, which says only that it got them. (serve)"""
import asyncio
import ctypes
import os
import sys

from websockets.asyncio.client import connect
from websockets.asyncio.server import serve

PORT = 47231


class Moment(ctypes.Structure):
    _fields_ = [("seconds", ctypes.c_long), ("rest", ctypes.c_long)]


def nanoseconds():
    """A clock of the C library, which no system call shows."""
    moment = Moment()
    ctypes.CDLL(None).clock_gettime(1, ctypes.byref(moment))
    return moment.seconds * 10**9 + moment.rest

async def take(socket):
    async for _ in socket:
        await socket.send("got it")


async def listen():
    asyncio.get_running_loop().call_later(300, os._exit, 0)
    async with serve(take, "127.0.0.1", PORT):
        open("ready", "w").close()
        await asyncio.Future()


async def main():
    async with connect(f"ws://127.0.0.1:{PORT}", compression=None) as socket:
        for number in range(3):
            await socket.send(f"reading {number}: {nanoseconds():020d}")
            print(number, await socket.recv())


asyncio.run(listen() if sys.argv[1:2] == ["serve"] else main())
