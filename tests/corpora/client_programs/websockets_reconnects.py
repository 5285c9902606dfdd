"""A feed that breaks off by chance: connected again after a pause, from where it stopped."""

import asyncio
import json
import random
import sys

import websockets


async def main():
    at, attempts = 0, 0
    while at < 20:
        attempts += 1
        try:
            async with websockets.connect(f"ws://127.0.0.1:{sys.argv[1]}/broken/{at}") as socket:
                async for message in socket:
                    told = json.loads(message)
                    at = told["number"] + 1
                    print(told["number"], told["price"])
        except websockets.ConnectionClosedError as error:
            print("lost at", at, error.rcvd and error.rcvd.code)
        await asyncio.sleep(random.random() / 100)
    print("attempts", attempts)


asyncio.run(main())
