"""A second request where the first takes long; the one that answers first wins and the other is cancelled."""

import asyncio
import sys
import time

import httpx


async def main():
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{sys.argv[1]}") as client:

        async def ask(name):
            return name, (await client.post("/chat", json={"name": name})).json()["text"]

        wins = {"first": 0, "second": 0}
        for number in range(6):
            began = time.perf_counter()
            tasks = [asyncio.create_task(ask("first"))]
            done, _ = await asyncio.wait(tasks, timeout=0.03)
            if not done:
                tasks.append(asyncio.create_task(ask("second")))
                done, pending = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
                for task in pending:
                    task.cancel()
                await asyncio.gather(*pending, return_exceptions=True)
            for task in done:
                wins[task.result()[0]] += 1
            print(number, sorted(task.result() for task in done), time.perf_counter() - began)
        print(wins)


asyncio.run(main())
