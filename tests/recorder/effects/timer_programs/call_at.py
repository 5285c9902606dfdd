import asyncio


async def main():
    loop = asyncio.get_running_loop()
    t = loop.time()
    out = []
    for d in (0.03, 0.01, 0.02):
        loop.call_at(t + d, out.append, d)
    h = loop.call_at(t + 0.015, out.append, "cancelled")
    h.cancel()
    await asyncio.sleep(0.05)
    print(out)


asyncio.run(main())
