"""Timers, timeouts, queues, task groups, cancellation and as_completed of asyncio, printed with the clock."""
import asyncio
import time


async def late(name, seconds):
    await asyncio.sleep(seconds)
    return name


async def producer(queue):
    for number in range(5):
        await queue.put((number, time.time()))
        await asyncio.sleep(0.005)
    await queue.put(None)


async def consumer(queue, seen):
    while (item := await queue.get()) is not None:
        seen.append(item)


async def fails(seconds):
    await asyncio.sleep(seconds)
    raise KeyError("late failure")


async def main():
    loop = asyncio.get_running_loop()
    begin = loop.time()
    try:
        await asyncio.wait_for(late("never", 30), 0.05)
    except TimeoutError as error:
        print("wait_for:", type(error).__name__, str(error))
    try:
        async with asyncio.timeout(0.04):
            await asyncio.Event().wait()
    except TimeoutError:
        print("timeout block left")
    order = []
    for future in asyncio.as_completed([late("c", 0.12), late("a", 0.02), late("b", 0.07)]):
        order.append(await future)
    print("as_completed:", order)
    queue, seen = asyncio.Queue(maxsize=1), []
    async with asyncio.TaskGroup() as group:
        group.create_task(producer(queue))
        group.create_task(consumer(queue, seen))
    print("queue:", seen)
    try:
        async with asyncio.TaskGroup() as group:
            group.create_task(fails(0.02))
            victim = group.create_task(late("victim", 20))
    except* KeyError as errors:
        print("group:", errors.exceptions, victim.cancelled())
    done, pending = await asyncio.wait([asyncio.ensure_future(late(n, s)) for n, s in (("x", 0.02), ("y", 5))], timeout=0.1)
    print("wait:", [d.result() for d in done], len(pending))
    for task in pending:
        task.cancel()
    results = await asyncio.gather(*pending, late("z", 0), return_exceptions=True)
    print("gather:", [repr(r) for r in results])
    calls = []
    loop.call_later(0.03, calls.append, "later")
    loop.call_soon(calls.append, "soon")
    await asyncio.sleep(0.06)
    print("calls:", calls, "elapsed", loop.time() - begin)


asyncio.run(main())
