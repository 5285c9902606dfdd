"""Three feeds at once, merged as they come, and a summary of each."""

import asyncio
import json
import sys

import websockets


async def main():
    merged, last = asyncio.Queue(), {}

    async def follow(name):
        async with websockets.connect(f"ws://127.0.0.1:{sys.argv[1]}/feed/{name}") as socket:
            async for message in socket:
                await merged.put((name, json.loads(message)))
        await merged.put((name, None))

    async with asyncio.TaskGroup() as group:
        for name in ("tin", "wool", "salt"):
            group.create_task(follow(name))
        left = 3
        while left:
            name, message = await merged.get()
            if message is None:
                left -= 1
                print("end of", name, last[name])
            else:
                last[name] = message["price"]
                print(name, message["number"], message["price"])


asyncio.run(main())
