import asyncio


async def slow(n):
    await asyncio.sleep(n / 50)
    return n


async def main():
    for n in range(6):
        try:
            print(n, await asyncio.wait_for(slow(n), 0.05))
        except TimeoutError:
            print(n, "late")


asyncio.run(main())
