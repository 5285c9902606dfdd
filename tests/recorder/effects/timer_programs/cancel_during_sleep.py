import asyncio


async def long():
    try:
        await asyncio.sleep(10)
    finally:
        print("cleaned")
        await asyncio.sleep(0.003)
        print("slept")


async def main():
    t = asyncio.create_task(long())
    await asyncio.sleep(0.005)
    t.cancel()
    try:
        await t
    except asyncio.CancelledError:
        print("cancelled")
    t = asyncio.create_task(long())
    await asyncio.sleep(0)
    try:
        await asyncio.shield(asyncio.wait_for(t, 0.01))
    except TimeoutError:
        print("late")


asyncio.run(main())
