"""Six questions at once over one client; what fails is asked again after a pause with jitter."""

import asyncio
import random
import sys

import httpx


async def ask(client, number):
    for attempt in range(8):
        answer = await client.post("/flaky", json={"question": number, "attempt": attempt})
        if answer.status_code == 200:
            return attempt, answer.json()["text"]
        await asyncio.sleep(random.uniform(0, 0.02) * (attempt + 1))
    return attempt, None


async def main():
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{sys.argv[1]}") as client:
        for number, answer in enumerate(await asyncio.gather(*(ask(client, n) for n in range(6)))):
            print(number, *answer)


asyncio.run(main())
