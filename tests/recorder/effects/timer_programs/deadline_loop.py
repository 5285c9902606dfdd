import asyncio


async def main():
    loop = asyncio.get_running_loop()
    end = loop.time() + 0.05
    n = 0
    while loop.time() < end:
        n += 1
        await asyncio.sleep(0.001)
    print(n)


asyncio.run(main())
