"""Four event streams at once; each is reported when it ends, with how long its longest pause was."""

import asyncio
import sys
import time

import httpx


async def follow(client, name):
    words, last, longest = [], time.monotonic(), 0.0
    async with client.stream("GET", f"/sse?{name}") as answer:
        async for line in answer.aiter_lines():
            if line.startswith("data:"):
                words.append(line.removeprefix("data:").split()[0])
                longest, last = max(longest, time.monotonic() - last), time.monotonic()
    return name, words, longest


async def main():
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{sys.argv[1]}") as client:
        for done in asyncio.as_completed([follow(client, name) for name in "abcd"]):
            print(*await done)


asyncio.run(main())
