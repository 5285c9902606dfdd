import asyncio


async def main():
    c = asyncio.Condition()
    out = []

    async def wait(i):
        async with c:
            await c.wait()
            out.append(i)

    ts = [asyncio.create_task(wait(i)) for i in range(5)]
    await asyncio.sleep(0.005)
    for n in (2, 1, 2):
        async with c:
            c.notify(n)
        await asyncio.sleep(0.003)
    await asyncio.gather(*ts)
    print(out)
    e = asyncio.Event()
    asyncio.get_running_loop().call_later(0.01, e.set)
    try:
        await asyncio.wait_for(e.wait(), 0.002)
    except TimeoutError:
        print("not yet")
    await e.wait()
    print("set")


asyncio.run(main())
