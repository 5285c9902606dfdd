import asyncio


async def ticker(name, every, n, out):
    for k in range(n):
        await asyncio.sleep(every)
        out.append((name, k))


async def main():
    out = []
    await asyncio.gather(
        ticker("a", 0.003, 10, out), ticker("b", 0.005, 6, out), ticker("c", 0.007, 4, out)
    )
    print(out)


asyncio.run(main())
