"""Asyncio: a task group, a deadline that is missed, one that is kept, and a shielded job."""
import asyncio


async def brew(name, seconds, log):
    await asyncio.sleep(seconds)
    log.append(name)
    return f"{name} after {seconds}"


async def main():
    log = []
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(brew(n, s, log)) for n, s in (("mate", 0.15), ("tea", 0.05), ("chai", 0.1))]
    print(log, [task.result() for task in tasks])

    try:
        await asyncio.wait_for(brew("espresso", 2, log), timeout=0.05)
    except asyncio.TimeoutError:
        print("espresso took too long")

    try:
        async with asyncio.timeout(0.05):
            await asyncio.Event().wait()
    except TimeoutError:
        print("nobody rang")

    slow = asyncio.create_task(brew("filter", 0.12, log))
    try:
        await asyncio.wait_for(asyncio.shield(slow), 0.03)
    except asyncio.TimeoutError:
        print("not yet:", slow.done())
    print(await slow, log)

    loop = asyncio.get_running_loop()
    began = loop.time()
    fired = loop.create_future()
    loop.call_later(0.06, fired.set_result, "bell")
    done, waiting = await asyncio.wait({fired, asyncio.ensure_future(asyncio.sleep(0.2))},
                                       return_when=asyncio.FIRST_COMPLETED)
    print(len(done), len(waiting), await fired, f"{loop.time() - began:.6f}")
    for rest in waiting:
        rest.cancel()


asyncio.run(main())
