"""Workers on an event loop share a stream by a group, and a list that some of them wait for."""

import asyncio
import sys

import redis.asyncio as redis


async def main():
    async with redis.Redis(port=int(sys.argv[1]), decode_responses=True) as client:
        await client.xgroup_create("jobs", "workers", mkstream=True)
        for number in range(9):
            await client.xadd("jobs", {"number": number})
        taken = {}

        async def work(name):
            taken[name] = []
            while found := await client.xreadgroup(
                "workers", name, {"jobs": ">"}, count=1, block=20
            ):
                [[_, [[entry, fields]]]] = found
                taken[name].append(fields["number"])
                await client.xack("jobs", "workers", entry)

        await asyncio.gather(work("ann"), work("bob"), work("cyd"))
        print(sorted(taken.items()))
        waits = [asyncio.create_task(client.blpop("late", timeout=1)) for _ in range(2)]
        await client.rpush("late", "one", "two")
        print(sorted(await asyncio.gather(*waits)), await client.blpop("never", timeout=0.05))


asyncio.run(main())
