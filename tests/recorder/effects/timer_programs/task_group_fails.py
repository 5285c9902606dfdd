import asyncio


async def w(i):
    await asyncio.sleep(0.01 * i)
    if i == 2:
        raise ValueError(i)


async def main():
    try:
        async with asyncio.TaskGroup() as g:
            for i in range(5):
                g.create_task(w(i))
    except* ValueError as e:
        print(e.exceptions)


asyncio.run(main())
