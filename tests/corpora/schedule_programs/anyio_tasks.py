"""anyio: a task group, a stream of objects, a timeout and a worker thread."""

import anyio


async def main():
    out = []
    send, recv = anyio.create_memory_object_stream(2)

    async def prod():
        async with send:
            for n in range(6):
                await send.send(n)

    async def cons():
        async with recv:
            async for n in recv:
                out.append(n)
                await anyio.sleep(0.1)

    async with anyio.create_task_group() as tg:
        tg.start_soon(prod)
        tg.start_soon(cons)
    with anyio.move_on_after(1) as sc:
        await anyio.sleep_forever()
    r = await anyio.to_thread.run_sync(lambda: 42)
    return out, sc.cancelled_caught, r
