"""A chat server and two members in one loop: what is said goes to all, a ping is answered, a code closes."""
import asyncio

from websockets.asyncio.client import connect
from websockets.asyncio.server import serve

members = []


async def room(socket):
    name = await socket.recv()
    members.append((name, socket))
    await socket.send(f"welcome {name}, you are number {len(members)}")
    async for text in socket:
        if text == "leave":
            await socket.close(4001, "left")
            return
        for _, other in members:
            await other.send(f"{name}: {text}")


async def main():
    async with serve(room, "127.0.0.1", 0) as server:
        url = f"ws://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        async with connect(url) as ada, connect(url) as bob:
            for name, socket in (("ada", ada), ("bob", bob)):
                await socket.send(name)
                print(await socket.recv())
            for speaker, text in ((ada, "hello"), (bob, "good day"), (ada, "x" * 3000)):
                await speaker.send(text)
                print([(await each.recv())[:20] for each in (ada, bob)])
            await (await ada.ping())
            await bob.send("leave")
            await bob.wait_closed()
            print(bob.close_code, bob.close_reason)


asyncio.run(main())
