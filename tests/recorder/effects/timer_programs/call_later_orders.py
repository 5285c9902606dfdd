import asyncio


async def main():
    loop = asyncio.get_running_loop()
    out = []
    loop.call_later(0.3, out.append, "c")
    loop.call_later(0.2, out.append, "b")
    loop.call_later(0.1, out.append, "a")
    await asyncio.sleep(0.5)
    print(out)


asyncio.run(main())
