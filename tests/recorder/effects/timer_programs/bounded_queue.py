import asyncio


async def put(q):
    for i in range(12):
        await q.put(i)
        await asyncio.sleep(0.001 * (i % 3))
    await q.put(None)


async def main():
    q = asyncio.Queue(2)
    out = []
    t = asyncio.create_task(put(q))
    while (x := await q.get()) is not None:
        out.append((x, q.qsize()))
        await asyncio.sleep(0.002)
    print(out)
    await t


asyncio.run(main())
