"""Twelve requests, three at a time; printed as they are done, with who waited for whom."""

import asyncio
import sys

import aiohttp


async def main():
    at_once, order = asyncio.Semaphore(3), []
    async with aiohttp.ClientSession(f"http://127.0.0.1:{sys.argv[1]}") as session:

        async def ask(number):
            async with at_once:
                order.append(f"+{number}")
                async with session.post("/chat", json={"number": number}) as answer:
                    text = (await answer.json())["text"]
                order.append(f"-{number}")
            return number, text

        for done in asyncio.as_completed([ask(number) for number in range(12)]):
            print(*await done)
    print(*order)


asyncio.run(main())
