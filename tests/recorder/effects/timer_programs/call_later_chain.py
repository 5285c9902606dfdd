import asyncio


def step(loop, n, out, done):
    out.append(n)
    if n == 0:
        done.set_result(None)
    else:
        loop.call_later(0.002 * (n % 4), step, loop, n - 1, out, done)


async def main():
    loop = asyncio.get_running_loop()
    out = []
    done = loop.create_future()
    loop.call_later(0, step, loop, 20, out, done)
    loop.call_later(0.011, out.append, "x")
    loop.call_later(0.017, out.append, "y")
    await done
    print(out)


asyncio.run(main())
