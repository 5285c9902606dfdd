import asyncio


async def main():
    q = asyncio.Queue()
    out = []

    async def prod():
        for i in range(5):
            await asyncio.sleep(0.004 + 0.004 * (i % 2))
            await q.put(i)

    t = asyncio.create_task(prod())
    while len([x for x in out if x != "-"]) < 5:
        try:
            out.append(await asyncio.wait_for(q.get(), 0.006))
        except TimeoutError:
            out.append("-")
    print(out)
    await t


asyncio.run(main())
