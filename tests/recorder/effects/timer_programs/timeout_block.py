import asyncio


async def main():
    for n in range(4):
        try:
            async with asyncio.timeout(0.03):
                await asyncio.sleep(0.01 + 0.015 * n)
                print(n, "done")
        except TimeoutError:
            print(n, "timed out")


asyncio.run(main())
