"""A deadline for each request, and a cheap answer in place of one that is late."""

import asyncio
import sys

import aiohttp


async def main():
    async with aiohttp.ClientSession(f"http://127.0.0.1:{sys.argv[1]}") as session:

        async def ask(path, number):
            async with session.get(f"{path}?{number}") as answer:
                return (await answer.json())["text"]

        for number in range(8):
            try:
                async with asyncio.timeout(0.05):
                    print(number, "asked", await ask("/chat", number))
            except TimeoutError:
                print(number, "instead", await ask("/quick", number))


asyncio.run(main())
