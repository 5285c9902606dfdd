import asyncio


async def w(i):
    await asyncio.sleep(0.02 * (4 - i))
    return i


async def main():
    todo = {asyncio.create_task(w(i)) for i in range(4)}
    while todo:
        done, todo = await asyncio.wait(todo, return_when=asyncio.FIRST_COMPLETED)
        print(sorted(t.result() for t in done), len(todo))


asyncio.run(main())
